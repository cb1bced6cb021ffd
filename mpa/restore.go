package mpa

import (
	"cmp"
	"fmt"
	"slices"
)

// Restore returns a participant as it was when its state was taken. agreed are the terms of every contract that the state
// names, also of ended ones, which are ended again with EndContract. It fails for a contract without terms, for a task that
// is named twice or under no contract, and for loads that cannot be.
func Restore(cfg Config, now Instant, agreed []Contract, s State) (*Machine, error) {
	m, err := New(cfg, now)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("participant %q: state: %w", cfg.Self, err)
	}
	for _, c := range agreed {
		if err := m.SetContract(now, c); err != nil {
			return nil, err
		}
	}
	m.begin(now)
	m.own = s.Own
	for _, t := range s.Tasks {
		if err := m.restoreTask(t); err != nil {
			return nil, fmt.Errorf("participant %q: state: %w", cfg.Self, err)
		}
	}
	slices.SortFunc(m.tasks, byOffer)
	for i := range s.Contracts {
		c := m.contract(s.Contracts[i].ID)
		if c == nil {
			return nil, fmt.Errorf("participant %q: state: contract %s has no terms", cfg.Self, s.Contracts[i].ID)
		}
		if err := m.restoreContract(c, &s.Contracts[i]); err != nil {
			return nil, fmt.Errorf("participant %q: state: %w", cfg.Self, err)
		}
	}
	m.recount()
	m.end()
	return m, nil
}

func (m *Machine) restoreTask(s TaskState) error {
	t := task{owner: s.Task.Owner, number: s.Task.Number, load: s.Load, since: m.now - Instant(m.cfg.Settings.MinStay) + Instant(s.Stays)}
	if s.Inward != "" {
		c := m.contract(s.Inward)
		if c == nil || len(s.Chain) == 0 {
			return fmt.Errorf("task %s/%d came under %s: no terms, or nobody it came through", t.owner, t.number, s.Inward)
		}
		t.more = &more{chain: s.Chain, contract: c, price: s.Price}
		c.takenLoad += t.load
	} else if t.owner != m.cfg.Self {
		return fmt.Errorf("task %s/%d came under no contract", t.owner, t.number)
	}
	if s.To == "" {
		if s.Leaving {
			t.state = leaving
		}
		m.tasks = append(m.tasks, t)
		return nil
	}
	to := m.contract(s.To)
	if to == nil {
		return fmt.Errorf("task %s/%d went under %s, which has no terms", t.owner, t.number, s.To)
	}
	to.givenLoad += t.load
	g := given{task: t, to: to, price: s.Paid, recalled: s.RecallFor != "", recallFor: s.RecallFor, sendAt: m.now}
	if s.Expected > 0 {
		g.expected, g.until = true, m.now.Add(s.Expected)
	}
	m.given = append(m.given, g)
	return nil
}

func (m *Machine) restoreContract(c *contract, s *ContractState) error {
	c.number, c.answered, c.leaving = s.Number, s.Answered, slices.Clone(s.Leaving)
	c.waitUntil, c.waitSpan, c.idle = m.now.Add(s.Wait), s.WaitSpan, s.Idle
	if s.Answered > 0 {
		c.answer = Message{Kind: Answer, Number: s.Answered, Tasks: slices.Clone(s.Answer)}
	}
	if s.Closed {
		c.settled = Message{Kind: Settled, Number: s.Answered, Tasks: slices.Clone(s.Settled)}
	}
	for _, r := range s.Returned {
		if c.returned == nil {
			c.returned = make(map[TaskID]float64)
		}
		c.returned[r.Task] = r.Own
	}
	for _, p := range s.Arriving {
		c.arriving = append(c.arriving, arrival{p.Item, p.Worth, m.now.Add(p.For)})
	}
	if len(s.Reserved) > 0 {
		c.reserve = &reservation{number: s.Answered, since: m.now, until: m.now.Add(s.ReservedFor)}
		for _, p := range s.Reserved {
			c.reserve.items, c.reserve.worth = append(c.reserve.items, p.Item), append(c.reserve.worth, p.Worth)
			c.reserve.load += p.Load
		}
	}
	if len(s.Committed) > 0 {
		return m.restoreCommit(c, s)
	}
	return nil
}

// restoreCommit takes up a commit that may have been settled already: it is sent again at once.
func (m *Machine) restoreCommit(c *contract, s *ContractState) error {
	o := &openOffer{sent: Message{Kind: Commit, Number: s.Number}, resendAt: m.now}
	for _, p := range s.Committed {
		at := m.find(p.Task)
		if at < 0 {
			continue // it has ended
		}
		if m.tasks[at].state != resting {
			return fmt.Errorf("task %s/%d is committed under %s, and leaves or is committed elsewhere", p.Task.Owner, p.Task.Number, c.ID)
		}
		m.tasks[at].state = committed
		o.items, o.worth = append(o.items, p.Item), append(o.worth, p.Worth)
		o.sent.Tasks = append(o.sent.Tasks, p.Task)
	}
	c.open = o
	return nil
}

func compareTasks(a, b TaskID) int {
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Number, b.Number))
}
