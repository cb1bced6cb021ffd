package mpa

import (
	"cmp"
	"slices"

	"fednode/contracts"
)

// task is a task that a participant carries. There can be millions in a simulation: what most lack is in more.
type task struct {
	owner  Party
	load   float64 // as decisions see it
	since  Instant
	more   *more // nil for a task of the participant's own, of constant load
	number uint32
	state  taskState
}

// more is what is known of a task that came from a partner, or whose load varies.
type more struct {
	chain    []Party // through whose hands it came, the owner first; empty for one's own
	contract *contract
	price    contracts.Price
	readings readings
}

type taskState uint8

const (
	resting   taskState = iota
	offered             // in an open offer
	committed           // in a commit that has not been settled
	leaving             // on its way to another party
)

func (t *task) id() TaskID { return TaskID{t.owner, t.number} }

// chain returns through whose hands the task came.
func (t *task) chain() []Party {
	if t.more == nil {
		return nil
	}
	return t.more.chain
}

// inward returns the contract under which the task came, nil for one's own.
func (t *task) inward() *contract {
	if t.more == nil {
		return nil
	}
	return t.more.contract
}

// readings is the mean of the last readings of a load.
type readings struct {
	list []float64
	next int
}

// window is how many readings a mean is of.
const window = 30

// add returns the mean after one more reading. before is the load that was known until now: it stands for all readings
// before the first.
func (r *readings) add(before, load float64) float64 {
	if r.list == nil {
		r.list = slices.Repeat([]float64{before}, window)
	}
	r.list[r.next] = load
	r.next = (r.next + 1) % window
	sum := 0.0
	for _, v := range r.list { // summed anew: a running sum would drift
		sum += v
	}
	return sum / window
}

// given is a task that was given to a partner and has not come back.
type given struct {
	task
	to        *contract
	price     contracts.Price
	recalled  bool
	recallFor Party // who takes it back: the participant, or an earlier giver
	sendAt    Instant
	tries     int
	expected  bool    // it counts as coming back
	until     Instant // as long as it is expected
}

// byOffer is the order in which tasks are offered: one's own before longer chains, larger first.
func byOffer(a, b task) int {
	if c := cmp.Compare(len(a.chain()), len(b.chain())); c != 0 {
		return c
	}
	if c := cmp.Compare(b.load, a.load); c != 0 {
		return c
	}
	if c := cmp.Compare(a.owner, b.owner); c != 0 {
		return c
	}
	return cmp.Compare(a.number, b.number)
}

// find returns the place of a task that is carried, -1 if it is not.
func (m *Machine) find(id TaskID) int {
	return slices.IndexFunc(m.tasks, func(t task) bool { return t.number == id.Number && t.owner == id.Owner })
}

// findGiven returns the place of a task that was given away, -1 if it was not.
func (m *Machine) findGiven(id TaskID) int {
	return slices.IndexFunc(m.given, func(g given) bool { return g.number == id.Number && g.owner == id.Owner })
}

// insert adds a task in its place.
func (m *Machine) insert(t task) {
	at, _ := slices.BinarySearchFunc(m.tasks, t, byOffer)
	m.tasks = slices.Insert(m.tasks, at, t)
	m.held += t.load
}

// remove takes a task out.
func (m *Machine) remove(at int) task {
	t := m.tasks[at]
	m.tasks = slices.Delete(m.tasks, at, at+1)
	m.held -= t.load
	return t
}
