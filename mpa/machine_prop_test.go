package mpa

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/contracts"
)

// crowd is a few participants among whom anything may happen: messages are lost, doubled, reordered and forged, tasks end,
// contracts end and come again.
type crowd struct {
	now      Instant
	names    []Party
	machines map[Party]*Machine
	mail     []letter
	moves    []passage
}

// crowdLinks are who has a contract with whom; the same two may have two.
var crowdLinks = [][2]Party{{"a", "b"}, {"b", "c"}, {"a", "c"}, {"c", "d"}, {"a", "b"}}

func newCrowd(t *rapid.T) *crowd {
	k := &crowd{names: []Party{"a", "b", "c", "d"}, machines: make(map[Party]*Machine)}
	cost, err := NewQueue(1, contracts.Micro)
	require.NoError(t, err)
	for i, name := range k.names {
		m, err := New(Config{Self: name, Cost: cost, Moving: 50_000, Margin: 100_000, Hysteresis: 0.02, Seed: uint64(i),
			Settings: DefaultSettings(), Explain: i == 0}, 0)
		require.NoError(t, err)
		k.machines[name] = m
		for n := range rapid.SampledFrom([]int{14, 10, 2, 0}).Draw(t, "tasks") {
			require.NoError(t, m.AddTask(0, uint32(n), rapid.Float64Range(0.02, 0.1).Draw(t, "load")))
		}
	}
	for i := range crowdLinks {
		k.setContract(t, i)
	}
	return k
}

func (k *crowd) setContract(t *rapid.T, link int) {
	high := rapid.SampledFrom([]contracts.Price{10e6, 5e6, 20e6, 1e6, 0}).Draw(t, "highest price")
	c := Contract{ID: linkID(link), Min: high / contracts.Price(rapid.IntRange(1, 4).Draw(t, "range")), Max: high, Give: true, Take: true,
		MaxLoad: rapid.SampledFrom([]float64{math.Inf(1), 0.5, 0}).Draw(t, "largest load"), MaxTask: rapid.SampledFrom([]float64{math.Inf(1), 0.1}).Draw(t, "largest task")}
	for _, end := range [][2]Party{crowdLinks[link], {crowdLinks[link][1], crowdLinks[link][0]}} {
		c.Partner = end[1]
		require.NoError(t, k.machines[end[0]].SetContract(k.now, c))
		k.collect(end[0])
	}
}

func linkID(link int) ContractID { return ContractID(fmt.Sprintf("l%d", link)) }

// collect takes what a participant wants done.
func (k *crowd) collect(name Party) {
	effects := k.machines[name].Ready()
	for _, e := range effects.Send {
		k.mail = append(k.mail, letter{from: name, Envelope: e})
	}
	for _, g := range effects.Migrate {
		k.moves = append(k.moves, passage{from: name, Migration: g})
	}
}

func (k *crowd) anyTask(t *rapid.T) TaskID {
	return TaskID{rapid.SampledFrom(k.names).Draw(t, "owner"), uint32(rapid.IntRange(0, 14).Draw(t, "number"))}
}

// deliver hands a message over, which may come again later.
func (k *crowd) deliver(t *rapid.T) {
	if len(k.mail) == 0 {
		return
	}
	at := rapid.IntRange(0, len(k.mail)-1).Draw(t, "message")
	l := k.mail[at]
	if fate := rapid.IntRange(0, 9).Draw(t, "fate"); fate > 0 { // else it comes twice
		k.mail = append(k.mail[:at:at], k.mail[at+1:]...)
		if fate == 1 {
			return
		}
	}
	k.machines[l.To].Receive(k.now, l.from, l.Message)
	k.collect(l.To)
}

// arrive ends a migration, well or not.
func (k *crowd) arrive(t *rapid.T) {
	if len(k.moves) == 0 {
		return
	}
	at := rapid.IntRange(0, len(k.moves)-1).Draw(t, "migration")
	p := k.moves[at]
	k.moves = append(k.moves[:at:at], k.moves[at+1:]...)
	moved := false
	if rapid.IntRange(0, 5).Draw(t, "migration fails") > 0 {
		_, moved = k.machines[p.To].Arrived(k.now, p.Task)
		k.collect(p.To)
	}
	k.machines[p.from].Left(k.now, p.Task, moved)
	k.collect(p.from)
}

// flow delivers everything in order, as on a good day, for some seconds.
func (k *crowd) flow(t *rapid.T) {
	for range rapid.IntRange(1, 6).Draw(t, "rounds") {
		for turns := 0; len(k.mail)+len(k.moves) > 0 && turns < 200; turns++ {
			if len(k.mail) > 0 {
				l := k.mail[0]
				k.mail = k.mail[1:]
				k.machines[l.To].Receive(k.now, l.from, l.Message)
				k.collect(l.To)
				continue
			}
			p := k.moves[0]
			k.moves = k.moves[1:]
			_, moved := k.machines[p.To].Arrived(k.now, p.Task)
			k.collect(p.To)
			k.machines[p.from].Left(k.now, p.Task, moved)
			k.collect(p.from)
		}
		k.pass(t)
	}
}

// forge sends what no honest participant would.
func (k *crowd) forge(t *rapid.T) {
	link := rapid.IntRange(0, len(crowdLinks)-1).Draw(t, "link")
	from, to := crowdLinks[link][0], crowdLinks[link][1]
	if rapid.Bool().Draw(t, "backwards") {
		from, to = to, from
	}
	msg := Message{Contract: linkID(link), Kind: Kind(rapid.IntRange(0, 8).Draw(t, "kind")), Number: rapid.Uint64Range(0, 20).Draw(t, "offer"),
		To: rapid.SampledFrom(k.names).Draw(t, "to"), Renewed: rapid.Bool().Draw(t, "renewed")}
	for range rapid.IntRange(0, 4).Draw(t, "items") {
		id := k.anyTask(t)
		msg.Tasks = append(msg.Tasks, id)
		msg.Items = append(msg.Items, Item{Task: id, Load: rapid.SampledFrom([]float64{0.01, 0.1, 0, -1, math.NaN(), math.Inf(1), 1e-300, 1e9}).Draw(t, "load"),
			Price: contracts.Price(rapid.Int64Range(-5, 30e6).Draw(t, "price")), Chain: []Party{id.Owner, from}[rapid.IntRange(0, 1).Draw(t, "chain"):]})
	}
	k.machines[to].Receive(k.now, from, msg)
	k.collect(to)
}

// operate is what operators and clients do.
func (k *crowd) operate(t *rapid.T) {
	name := rapid.SampledFrom(k.names).Draw(t, "node")
	m := k.machines[name]
	id := k.anyTask(t)
	switch rapid.IntRange(0, 8).Draw(t, "operation") {
	case 0:
		m.Pause(k.now, rapid.Bool().Draw(t, "pause"))
	case 1:
		m.EndContract(k.now, linkID(rapid.IntRange(0, len(crowdLinks)-1).Draw(t, "link")))
	case 2:
		k.setContract(t, rapid.IntRange(0, len(crowdLinks)-1).Draw(t, "link"))
		return
	case 3:
		m.DropTask(k.now, id)
	case 4:
		_ = m.AddTask(k.now, id.Number, rapid.Float64Range(0.01, 0.2).Draw(t, "load")) // fails if it is there
	case 5:
		require.NoError(t, m.Measured(k.now, id, rapid.Float64Range(0.001, 0.5).Draw(t, "reading")))
	case 6:
		m.OwnLoad(k.now, rapid.SampledFrom([]float64{0, 0.5, 2, math.NaN(), math.Inf(1)}).Draw(t, "own load"))
	case 7:
		k.restart(t, name)
	case 8: // what the shell says is not always true
		_, carried := m.Arrived(k.now, id)
		require.Equal(t, m.find(id) >= 0, carried)
	}
	k.collect(name)
}

// restart takes a participant's state, as it was written, and goes on from it.
func (k *crowd) restart(t *rapid.T, name Party) {
	m := k.machines[name]
	before := m.State()
	written, err := json.Marshal(before)
	require.NoError(t, err)
	var read State
	require.NoError(t, json.Unmarshal(written, &read))
	agreed := make([]Contract, 0, len(m.contracts))
	for _, c := range m.contracts {
		agreed = append(agreed, c.Contract)
	}
	again, err := Restore(m.cfg, k.now, agreed, read)
	require.NoError(t, err)
	checkBooks(t, again)
	after, err := json.Marshal(again.State())
	require.NoError(t, err)
	require.JSONEq(t, string(written), string(after))
	for _, c := range m.contracts {
		if c.ended {
			again.EndContract(k.now, c.ID)
		}
	}
	k.machines[name] = again
}

// pass lets time go by; nothing is due in the past, and nobody spins.
func (k *crowd) pass(t *rapid.T) {
	end := k.now.Add(rapid.SampledFrom([]int64{millisecond, second, 7 * second, 100 * second}).Draw(t, "time"))
	for range 100_000 {
		first, due := Party(""), end
		for _, n := range k.names {
			if d := k.machines[n].Due(); d < due {
				first, due = n, d
			}
		}
		if first == "" {
			k.now = end
			return
		}
		require.GreaterOrEqual(t, due, Instant(0))
		k.now = max(k.now, due)
		k.machines[first].Tick(k.now)
		require.Greater(t, k.machines[first].Due(), k.now, "%s is due again at once", first)
		k.collect(first)
	}
	require.Fail(t, "time does not pass")
}

// Whatever happens, the books of every participant balance.
func TestBooksBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newCrowd(t)
		steps := []func(*rapid.T){k.deliver, k.deliver, k.arrive, k.arrive, k.flow, k.pass, k.forge, k.operate, k.operate}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")](t)
			for _, n := range k.names {
				checkBooks(t, k.machines[n])
			}
		}
	})
}

// checkBooks recounts everything that a participant keeps sums of, and sees that no task is in two states.
func checkBooks(t require.TestingT, m *Machine) {
	var held, out, reserved float64
	where := make(map[TaskID]string)
	put := func(id TaskID, state string) {
		require.Empty(t, where[id], "%v is %s too", id, state)
		where[id] = state
	}
	taken := make(map[*contract]float64)
	gave := make(map[*contract]float64)
	states := make(map[TaskID]taskState)
	for i := range m.tasks {
		task := &m.tasks[i]
		put(task.id(), "carried")
		states[task.id()] = task.state
		held += task.load
		if task.state != resting {
			out += task.load
		}
		taken[task.inward()] += task.load
	}
	for i := range m.given {
		g := &m.given[i]
		put(g.id(), "given")
		taken[g.inward()] += g.load
		gave[g.to] += g.load
		if g.expected {
			reserved += g.load
		}
	}
	named := make(map[TaskID]bool)
	for _, c := range m.contracts {
		reserved += checkContract(t, c, put)
		require.InDelta(t, taken[c], c.takenLoad, 1e-9)
		require.InDelta(t, gave[c], c.givenLoad, 1e-9)
		if c.open != nil {
			for _, item := range c.open.items {
				require.False(t, named[item.Task], "%v is offered twice", item.Task)
				named[item.Task] = true
			}
		}
		for _, item := range c.leaving {
			require.Equal(t, leaving, states[item.Task], "%v is not on its way", item.Task)
		}
	}
	for id, state := range states {
		if state == offered || state == committed {
			require.True(t, named[id], "%v is held back for no offer", id)
		}
	}
	require.InDelta(t, held, m.held, 1e-9)
	require.InDelta(t, out, m.out, 1e-9)
	require.InDelta(t, reserved, m.reserved, 1e-9)
	require.LessOrEqual(t, m.out, m.held+1e-9)
	require.False(t, math.IsNaN(m.own))
}

// checkContract returns what is reserved under a contract.
func checkContract(t require.TestingT, c *contract, put func(TaskID, string)) (reserved float64) {
	if r := c.reserve; r != nil {
		sum := 0.0
		for _, item := range r.items {
			put(item.Task, "reserved")
			sum += item.Load
		}
		require.InDelta(t, sum, r.load, 1e-9)
		reserved += sum
	}
	for _, a := range c.arriving {
		put(a.Task, "arriving")
		reserved += a.Load
	}
	require.LessOrEqual(t, len(c.arriving), maxArriving)
	require.Positive(t, c.quota)
	return reserved
}
