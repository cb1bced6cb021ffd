package mpa

import (
	"fmt"
	"slices"

	"fednode/contracts"
)

// State is what a participant has to keep over a restart: which offers it has made and answered, what it has promised, and
// where its tasks are. The shell writes it before it sends what Ready asks for; then no offer is answered twice, and
// nothing that was settled is forgotten. Terms, readings, refusals and demands are not in it. Times are in microseconds
// from the moment of the state, for clocks start anew.
type State struct {
	Own       float64
	Tasks     []TaskState
	Contracts []ContractState
}

// TaskState is a task that is carried, or, if it names To, was given away.
type TaskState struct {
	Task TaskID
	Load float64
	// Stays is how much longer it is not offered.
	Stays int64 `json:",omitempty"`
	// Inward is the contract under which it came, empty for one's own; Price is paid for it and Chain is whom it came
	// through.
	Inward ContractID      `json:",omitempty"`
	Price  contracts.Price `json:",omitempty"`
	Chain  []Party         `json:",omitempty"`
	// Leaving is true while it migrates: under the contract that lists it, or else back along its chain.
	Leaving bool `json:",omitempty"`
	// To is the contract under which it was given away, Paid its price there, RecallFor who has recalled it.
	To        ContractID      `json:",omitempty"`
	Paid      contracts.Price `json:",omitempty"`
	RecallFor Party           `json:",omitempty"`
	// Expected is how much longer room is kept for its return.
	Expected int64 `json:",omitempty"`
}

// ContractState is what goes on under a contract.
type ContractState struct {
	ID ContractID
	// Number is that of the last offer made, Committed the items of its commit while that is not settled, each with its
	// worth; an offer that is not committed is as good as not made.
	Number    uint64         `json:",omitempty"`
	Committed []PromiseState `json:",omitempty"`
	Leaving   []Item         `json:",omitempty"`
	// Returned tasks are not offered again while the own load stays about what it was then.
	Returned []ReturnedState `json:",omitempty"`
	// Answered is the number of the last offer answered, with the answer; Settled the answer to its commit, if there was one.
	Answered uint64   `json:",omitempty"`
	Answer   []TaskID `json:",omitempty"`
	Settled  []TaskID `json:",omitempty"`
	Closed   bool     `json:",omitempty"` // a commit was settled, be it with nothing
	// Reserved holds for ReservedFor.
	Reserved    []PromiseState `json:",omitempty"`
	ReservedFor int64          `json:",omitempty"`
	Arriving    []PromiseState `json:",omitempty"`
	// Wait is how much longer the giver is refused everything, WaitSpan how long it had to wait last, Idle how long room was
	// reserved for nothing.
	Wait     int64 `json:",omitempty"`
	WaitSpan int64 `json:",omitempty"`
	Idle     int64 `json:",omitempty"`
}

// PromiseState is a task that is to move; For is how much longer it is waited for, of one that is to arrive.
type PromiseState struct {
	Item
	Worth Worth
	For   int64 `json:",omitempty"`
}

// ReturnedState is a task that came back, and the load of the participant's own clients then.
type ReturnedState struct {
	Task TaskID
	Own  float64
}

// State returns what has to be kept now. It shares nothing with the participant but chains, which nobody changes.
func (m *Machine) State() State {
	s := State{Own: m.own}
	for i := range m.tasks {
		s.Tasks = append(s.Tasks, m.taskState(&m.tasks[i]))
	}
	for i := range m.given {
		g := &m.given[i]
		t := m.taskState(&g.task)
		t.To, t.Paid = g.to.ID, g.price
		if g.recalled {
			t.RecallFor = g.recallFor
		}
		if g.expected {
			t.Expected = m.left(g.until)
		}
		s.Tasks = append(s.Tasks, t)
	}
	for _, c := range m.contracts {
		s.Contracts = append(s.Contracts, m.contractState(c))
	}
	return s
}

// left is how much longer it is until an instant.
func (m *Machine) left(until Instant) int64 { return max(0, int64(until-m.now)) }

func (m *Machine) taskState(t *task) TaskState {
	s := TaskState{Task: t.id(), Load: t.load, Stays: m.left(t.since.Add(m.cfg.Settings.MinStay)), Chain: t.chain(), Leaving: t.state == leaving}
	if c := t.inward(); c != nil {
		s.Inward, s.Price = c.ID, t.more.price
	}
	return s
}

func (m *Machine) contractState(c *contract) ContractState {
	s := ContractState{ID: c.ID, Number: c.number, Leaving: slices.Clone(c.leaving), Answered: c.answered,
		Answer: slices.Clone(c.answer.Tasks), Settled: slices.Clone(c.settled.Tasks), Closed: c.settled.Kind == Settled,
		Wait: m.left(c.waitUntil), WaitSpan: c.waitSpan, Idle: c.idle}
	if c.open != nil && c.open.sent.Kind == Commit {
		for i, item := range c.open.items {
			s.Committed = append(s.Committed, PromiseState{Item: item, Worth: c.open.worth[i]})
		}
	}
	for id, own := range c.returned {
		s.Returned = append(s.Returned, ReturnedState{id, own})
	}
	slices.SortFunc(s.Returned, func(a, b ReturnedState) int { return compareTasks(a.Task, b.Task) })
	if r := c.reserve; r != nil {
		s.ReservedFor = m.left(r.until)
		for i, item := range r.items {
			s.Reserved = append(s.Reserved, PromiseState{Item: item, Worth: r.worth[i]})
		}
	}
	for _, a := range c.arriving {
		s.Arriving = append(s.Arriving, PromiseState{Item: a.Item, Worth: a.worth, For: m.left(a.until)})
	}
	return s
}

// check reports what in a state cannot be.
func (s *State) check() error {
	seen := make(map[TaskID]bool)
	once := func(id TaskID, load float64) error {
		if seen[id] {
			return fmt.Errorf("task %s/%d is named twice", id.Owner, id.Number)
		}
		seen[id] = true
		if err := checkLoad(load); err != nil {
			return fmt.Errorf("task %s/%d: %w", id.Owner, id.Number, err)
		}
		return nil
	}
	for _, t := range s.Tasks {
		if err := once(t.Task, t.Load); err != nil {
			return err
		}
	}
	for i := range s.Contracts {
		for _, list := range [][]PromiseState{s.Contracts[i].Reserved, s.Contracts[i].Arriving} {
			for _, p := range list {
				if err := once(p.Task, p.Load); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
