package mpa

import (
	"fmt"
	"math"
	"slices"

	"fednode/contracts"
)

// Machine is one participant. Its methods take events and the time; what is to be done is fetched with Ready after each,
// and Tick is called at Due. A Machine belongs to one goroutine.
type Machine struct {
	cfg       Config
	now       Instant
	contracts []*contract
	tasks     []task  // carried, in the order byOffer
	given     []given // given away
	own       float64 // load of the participant's own clients, wherever it is carried
	// The views: low = held − out for offers, high = held + reserved for what is taken.
	held, out, reserved float64

	stirred bool    // something has changed since the last round
	roundAt Instant // not before
	stayed  Instant // when a task that was held here for its shortest stay may go
	due     Instant
	random  uint64
	paused  bool
	ready   Effects
}

// Effects are what a participant wants done, in order.
type Effects struct {
	Send      []Envelope
	Migrate   []Migration
	Decisions []Decision
}

// Migration asks the shell to move a task that the participant carries. Its end is told with Left here, and with Arrived
// at the other party.
type Migration struct {
	Task   TaskID
	To     Party
	Load   float64
	Price  contracts.Price
	Return bool
	// Worth is what the task costs here: as it counted when the move was decided.
	Worth Worth
}

// Worth is a participant's cost with and without a task, in micro-units a second, and the load of the task, all as they
// counted when a move was decided.
type Worth struct{ Load, With, Without float64 }

// contract is a contract and what is going on under it.
type contract struct {
	Contract
	ended bool

	// As giver.
	number    uint64 // of the last offer
	open      *openOffer
	askedAt   Instant
	refusal   refusal
	quota     int                // how many tasks it is offered at once; see fits
	givenLoad float64            // has not come back
	leaving   []Item             // on their way to the partner
	returned  map[TaskID]float64 // not offered again until the load of our own clients differs from this
	renewed   bool               // tell the partner that what was returned may be offered again

	// As taker.
	answered  uint64
	answer    Message // to answered
	settled   Message // to the commit of answered; Kind 0 if there was none
	reserve   *reservation
	arriving  []arrival
	demand    demand
	takenLoad float64
	waitUntil Instant // the giver is refused everything
	waitSpan  int64
	idle      int64 // how long room has been reserved for nothing since a task was committed
}

// New returns a participant without tasks and contracts.
func New(cfg Config, now Instant) (*Machine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("participant %q: %w", cfg.Self, err)
	}
	m := &Machine{cfg: cfg, now: now, roundAt: now, due: Never, stayed: Never, random: cfg.Seed}
	m.roundAt = now.Add(int64(m.uniform() * float64(cfg.Settings.Round)))
	return m, nil
}

// Ready returns what is to be done since the last call. The slices are used again after the next event.
func (m *Machine) Ready() Effects { return m.ready }

// Due returns when Tick is to be called, Never if nothing is waited for: a participant with nothing to decide costs nothing.
func (m *Machine) Due() Instant { return m.due }

// Load returns what the participant carries, as its decisions see it.
func (m *Machine) Load() float64 { return m.held }

// Tasks returns the number of tasks that are carried.
func (m *Machine) Tasks() int { return len(m.tasks) }

// Largest returns the load of the largest task that is carried.
func (m *Machine) Largest() float64 {
	most := 0.0
	for i := range m.tasks {
		most = max(most, m.tasks[i].load)
	}
	return most
}

// Carried calls f for each task that is carried, with its price and giver; both are zero for one's own.
func (m *Machine) Carried(f func(id TaskID, load float64, chain []Party, price contracts.Price)) {
	for i := range m.tasks {
		t := &m.tasks[i]
		price := contracts.Price(0)
		if t.more != nil {
			price = t.more.price
		}
		f(t.id(), t.load, t.chain(), price)
	}
}

// begin starts an event.
func (m *Machine) begin(now Instant) {
	m.now = max(m.now, now)
	m.ready.Send, m.ready.Migrate, m.ready.Decisions = m.ready.Send[:0], m.ready.Migrate[:0], m.ready.Decisions[:0]
}

// end finishes an event: it says when the next one is due.
func (m *Machine) end() {
	m.due = Never
	if m.stirred {
		m.due = m.roundAt
	}
	m.due = min(m.due, m.stayed)
	for _, c := range m.contracts {
		m.due = min(m.due, m.dueOf(c))
	}
	for i := range m.given {
		g := &m.given[i]
		if g.recalled {
			m.due = min(m.due, g.sendAt)
		}
		if g.expected {
			m.due = min(m.due, g.until)
		}
	}
	if m.due != Never {
		m.due = max(m.due, m.now)
	}
}

func (m *Machine) dueOf(c *contract) Instant {
	due := Never
	if c.open != nil {
		due = min(due, c.open.resendAt)
	}
	if c.reserve != nil {
		due = min(due, c.reserve.until)
	}
	for i := range c.arriving {
		due = min(due, c.arriving[i].until)
	}
	if c.refusal.counts {
		due = min(due, c.refusal.until)
	}
	if c.demand.alive {
		due = min(due, c.demand.until)
	}
	return due
}

// SetContract adds a contract, or replaces the terms of one.
func (m *Machine) SetContract(now Instant, c Contract) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Partner == m.cfg.Self {
		return fmt.Errorf("contract %s: a participant makes none with itself", c.ID)
	}
	have := m.contract(c.ID)
	if have != nil && have.Partner != c.Partner {
		return fmt.Errorf("contract %s is with %s, not with %s: a contract keeps its parties", c.ID, have.Partner, c.Partner)
	}
	m.begin(now)
	m.stirred = true
	if have != nil {
		m.callOff(have)
		have.Contract, have.ended = c, false
	} else {
		m.contracts = append(m.contracts, &contract{Contract: c, askedAt: -1, quota: MaxItems})
	}
	slices.SortStableFunc(m.contracts, compareContracts) // new terms may have another price
	m.end()
	return nil
}

// callOff ends what has been offered or reserved under a contract and is not committed: its terms hold no more.
func (m *Machine) callOff(c *contract) {
	m.free(c)
	if c.open != nil && c.open.sent.Kind == Offer {
		m.letGo(c, nil)
	}
}

// EndContract ends a contract: nothing is offered or taken any more, and tasks are given back in order.
func (m *Machine) EndContract(now Instant, id ContractID) {
	m.begin(now)
	if c := m.contract(id); c != nil {
		m.callOff(c)
		c.ended, m.stirred = true, true
	}
	m.end()
}

// Pause stops all new moves until Resume; what has been committed goes on.
func (m *Machine) Pause(now Instant, paused bool) {
	m.begin(now)
	m.paused, m.stirred = paused, true
	m.end()
}

func (m *Machine) contract(id ContractID) *contract {
	for _, c := range m.contracts {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// AddTask adds a task of the participant's own clients.
func (m *Machine) AddTask(now Instant, number uint32, load float64) error {
	if err := checkLoad(load); err != nil {
		return fmt.Errorf("task %s/%d: %w", m.cfg.Self, number, err)
	}
	id := TaskID{m.cfg.Self, number}
	if m.find(id) >= 0 || m.findGiven(id) >= 0 {
		return fmt.Errorf("task %s/%d is there already", id.Owner, id.Number)
	}
	m.begin(now)
	m.own += load
	m.insert(task{owner: m.cfg.Self, number: number, load: load, since: -Instant(m.cfg.Settings.MinStay)})
	m.ownChanged()
	m.end()
	return nil
}

// AddTasks adds tasks of the participant's own clients, numbered from 0 by their places; it has none yet.
func (m *Machine) AddTasks(now Instant, loads []float64) error {
	if len(m.tasks)+len(m.given) > 0 {
		return fmt.Errorf("participant %q has tasks already", m.cfg.Self)
	}
	m.begin(now)
	m.tasks = make([]task, 0, len(loads))
	for i, load := range loads {
		if err := checkLoad(load); err != nil {
			m.tasks, m.held, m.own = nil, 0, 0
			return fmt.Errorf("task %s/%d: %w", m.cfg.Self, i, err)
		}
		m.tasks = append(m.tasks, task{owner: m.cfg.Self, number: uint32(i), load: load, since: -Instant(m.cfg.Settings.MinStay)})
		m.held += load
		m.own += load
	}
	slices.SortFunc(m.tasks, byOffer)
	m.ownChanged()
	m.end()
	return nil
}

// DropTask removes a task that has ended, whoever carries it now, and reports whether it was carried here.
func (m *Machine) DropTask(now Instant, id TaskID) bool {
	m.begin(now)
	defer m.end()
	var t task
	carried := false
	if at := m.findGiven(id); at >= 0 {
		t = m.forget(at).task
	} else if at := m.find(id); at >= 0 {
		m.withdraw(id)
		t, carried = m.remove(at), true
		if t.state != resting {
			m.out -= t.load
		}
	}
	if c := t.inward(); c != nil {
		c.takenLoad -= t.load
	}
	if t.owner == m.cfg.Self {
		m.own -= t.load
		m.ownChanged()
	}
	m.forgetEverywhere(id)
	m.relieved()
	return carried
}

// forgetEverywhere drops what contracts know of a task that has ended.
func (m *Machine) forgetEverywhere(id TaskID) {
	for _, c := range m.contracts {
		delete(c.returned, id)
		c.leaving = slices.DeleteFunc(c.leaving, func(i Item) bool { return i.Task == id })
		c.arriving = slices.DeleteFunc(c.arriving, func(a arrival) bool {
			if a.Task == id {
				m.reserved -= a.Load
			}
			return a.Task == id
		})
	}
}

// Measured takes a reading of the load of a task that is carried; decisions use the mean of the last 30.
func (m *Machine) Measured(now Instant, id TaskID, load float64) error {
	if err := checkLoad(load); err != nil {
		return fmt.Errorf("task %s/%d: %w", id.Owner, id.Number, err)
	}
	at := m.find(id)
	if at < 0 {
		return nil // it has just left
	}
	m.begin(now)
	m.measure(&m.tasks[at], load)
	m.settleOrder()
	m.end()
	return nil
}

// MeasuredAll takes a reading of every task that is carried, from a function of the task and its load until now.
func (m *Machine) MeasuredAll(now Instant, reading func(id TaskID, load float64) float64) error {
	m.begin(now)
	defer m.end()
	defer m.settleOrder() // also of those that were read before a reading that is refused
	for i := range m.tasks {
		t := &m.tasks[i]
		load := reading(t.id(), t.load)
		if err := checkLoad(load); err != nil {
			return fmt.Errorf("task %s/%d: %w", t.owner, t.number, err)
		}
		m.measure(t, load)
	}
	return nil
}

func (m *Machine) measure(t *task, load float64) {
	if t.more == nil {
		if t.load == load {
			return
		}
		t.more = &more{}
	}
	before := t.load
	t.load = t.more.readings.add(before, load)
	change := t.load - before
	m.held += change
	if t.state != resting {
		m.out += change
	}
	if c := t.inward(); c != nil {
		c.takenLoad += change
	}
	m.stirred = m.stirred || change != 0
}

// settleOrder puts the tasks in order again after readings.
func (m *Machine) settleOrder() {
	if !slices.IsSortedFunc(m.tasks, byOffer) {
		slices.SortStableFunc(m.tasks, byOffer)
	}
	m.relieved()
}

// OwnLoad says what load the participant's own clients cause, wherever it is carried; it is measured at their streams. A
// reading that is no finite number from 0 changes nothing.
func (m *Machine) OwnLoad(now Instant, load float64) {
	if !(load >= 0) || math.IsInf(load, 1) {
		return
	}
	m.begin(now)
	m.own = load
	m.ownChanged()
	m.end()
}

func checkLoad(load float64) error {
	if !(load > 0 && load <= maxLoad) {
		return fmt.Errorf("load %g: a number above 0 and up to %g is expected", load, float64(maxLoad))
	}
	return nil
}

// maxLoad bounds the load of a task, so that sums of loads stay exact enough.
const maxLoad = 1e9

// uniform returns a number from 0 up to 1, from the participant's own seed.
func (m *Machine) uniform() float64 {
	m.random += 0x9e3779b97f4a7c15
	z := m.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}
