package mpa

import (
	"slices"

	"fednode/contracts"
)

// arrival is a task that is on its way here; it counts as carried.
type arrival struct {
	Item
	worth Worth
	until Instant
}

// takeAnswer looks again at each task that a taker has reserved room for, commits those that still save enough, and lets
// the others go.
func (m *Machine) takeAnswer(c *contract, msg Message) {
	o := c.open
	if o == nil || o.sent.Kind != Offer || msg.Number != c.number {
		return
	}
	commit := Message{Kind: Commit, Number: c.number}
	taken := 0
	load := m.low() + m.openLoad(o)
	for _, item := range o.items {
		if !slices.Contains(msg.Tasks, item.Task) {
			continue
		}
		taken++
		at := m.find(item.Task)
		if at < 0 {
			continue
		}
		t := &m.tasks[at]
		d := Decision{Reason: Commits, Contract: c.ID, Partner: c.Partner, Task: item.Task, Size: t.load, Price: item.Price, Load: load,
			Money: Saving(m.cfg.Cost, load, t.load) / t.load, Limit: float64(item.Price) + m.cfg.Moving}
		if m.paused || c.ended || !less(d.Limit, d.Money) {
			d.Reason = Releases
		} else {
			commit.Tasks = append(commit.Tasks, item.Task)
			o.worth = append(o.worth, Worth{Load: t.load, With: m.cfg.Cost.At(load), Without: m.cfg.Cost.At(max(0, load-t.load))})
			load -= t.load
		}
		m.decide(d)
	}
	c.fits(taken, len(o.items))
	if taken < len(o.items) {
		m.refused(c, highest(o.items, msg.Tasks))
	} else {
		c.refusal = refusal{}
	}
	if len(commit.Tasks) == 0 {
		if len(msg.Tasks) > 0 {
			m.send(c, commit) // frees the reservation; if it is lost, time does
		}
		m.letGo(c, nil)
		return
	}
	m.commit(c, commit)
}

// highest returns the highest price of the items that were not taken.
func highest(items []Item, taken []TaskID) (price contracts.Price) {
	for _, item := range items {
		if !slices.Contains(taken, item.Task) {
			price = max(price, item.Price)
		}
	}
	return price
}

// openLoad is the load of the tasks of an open offer that are still here.
func (m *Machine) openLoad(o *openOffer) float64 {
	sum := 0.0
	for _, item := range o.items {
		if at := m.find(item.Task); at >= 0 && m.tasks[at].state == offered {
			sum += m.tasks[at].load
		}
	}
	return sum
}

func (m *Machine) commit(c *contract, commit Message) {
	o := c.open
	o.items = slices.DeleteFunc(slices.Clone(o.items), func(item Item) bool {
		if slices.Contains(commit.Tasks, item.Task) {
			return false
		}
		if at := m.find(item.Task); at >= 0 {
			m.rest(&m.tasks[at])
		}
		if o.relayed != nil && o.relayed.demand.alive {
			o.relayed.demand.load += item.Load
		}
		return true
	})
	for _, id := range commit.Tasks {
		m.tasks[m.find(id)].state = committed
	}
	o.sent, o.tries, o.resendAt = commit, 0, m.now.Add(m.cfg.Settings.Resend)
	m.stirred = true
	m.send(c, commit)
}

// takeCommit settles a commit: in time, its tasks will come; too late, nothing has moved.
func (m *Machine) takeCommit(c *contract, msg Message) {
	if msg.Number == 0 || msg.Number != c.answered {
		return
	}
	if c.settled.Kind == Settled {
		m.send(c, c.settled)
		return
	}
	c.settled = Message{Kind: Settled, Number: msg.Number}
	if r := c.reserve; r != nil && r.number == msg.Number && !m.paused {
		for i, item := range r.items {
			if slices.Contains(msg.Tasks, item.Task) {
				c.arriving = append(c.arriving, arrival{item, r.worth[i], m.now.Add(m.cfg.Settings.MigrationTimeout)})
				c.settled.Tasks = append(c.settled.Tasks, item.Task)
				m.reserved += item.Load
			}
		}
		if len(c.settled.Tasks) > 0 {
			c.idle = 0
		} else {
			m.wasted(c)
		}
		m.free(c)
	}
	m.send(c, c.settled)
}

// takeSettled lets those tasks move whose commit came in time.
func (m *Machine) takeSettled(c *contract, msg Message) {
	o := c.open
	if o == nil || o.sent.Kind != Commit || msg.Number != c.number {
		return
	}
	var moving []TaskID
	for i, item := range o.items {
		at := m.find(item.Task)
		if at < 0 || m.tasks[at].state != committed || c.ended || !slices.Contains(msg.Tasks, item.Task) {
			continue // also one that has ended, and another that has its number now
		}
		m.tasks[at].state = leaving
		moving = append(moving, item.Task)
		m.ready.Migrate = append(m.ready.Migrate, Migration{Task: item.Task, To: c.Partner, Load: o.worth[i].Load, Price: item.Price, Worth: o.worth[i]})
	}
	c.leaving = append(c.leaving, itemsOf(o.items, moving)...)
	m.letGo(c, moving)
}

func itemsOf(items []Item, tasks []TaskID) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !slices.Contains(tasks, i.Task) })
}

// Left says how a migration from here has ended: the other party runs the task, or it stays here.
func (m *Machine) Left(now Instant, id TaskID, moved bool) {
	m.begin(now)
	defer m.end()
	at := m.find(id)
	if at < 0 || m.tasks[at].state != leaving {
		return
	}
	c, item := m.leavingUnder(id)
	if !moved {
		m.rest(&m.tasks[at])
		m.stirred = true
		return
	}
	t := m.remove(at)
	m.out -= t.load
	if c != nil {
		t.state = resting
		c.givenLoad += t.load
		m.given = append(m.given, given{task: t, to: c, price: item.Price})
	} else if in := t.inward(); in != nil {
		in.takenLoad -= t.load // it went back
	}
	m.relieved()
}

// leavingUnder returns the contract under which a task is leaving, nil if it is a return, and forgets it.
func (m *Machine) leavingUnder(id TaskID) (*contract, Item) {
	for _, c := range m.contracts {
		for k, item := range c.leaving {
			if item.Task == id {
				c.leaving = slices.Delete(c.leaving, k, k+1)
				return c, item
			}
		}
	}
	return nil, Item{}
}

// Arrived says that a task runs here: one that was committed, or one that came back. It reports false if the task was
// not expected any more: then it must not run here. Said again, it changes nothing. worth is what it costs here, as it counted when it was decided on.
func (m *Machine) Arrived(now Instant, id TaskID) (worth Worth, expected bool) {
	m.begin(now)
	defer m.end()
	if m.find(id) >= 0 {
		return Worth{}, true
	}
	for _, c := range m.contracts {
		at := slices.IndexFunc(c.arriving, func(a arrival) bool { return a.Task == id })
		if at < 0 {
			continue
		}
		item, worth := c.arriving[at].Item, c.arriving[at].worth
		c.arriving = slices.Delete(c.arriving, at, at+1)
		c.waitSpan = 0
		m.reserved -= item.Load
		c.takenLoad += item.Load
		m.insert(task{owner: id.Owner, number: id.Number, load: item.Load, since: m.now,
			more: &more{chain: item.Chain, contract: c, price: item.Price}})
		m.stirred = true
		return worth, true
	}
	return m.cameBack(id)
}

// expireArrivals gives up what has not come in time; the shell refuses it if it comes after all. To commit and not to send
// is one more way of hoarding.
func (m *Machine) expireArrivals(c *contract) {
	before := len(c.arriving)
	c.arriving = slices.DeleteFunc(c.arriving, func(a arrival) bool {
		late := m.now >= a.until
		if late {
			m.reserved -= a.Load
		}
		return late
	})
	if len(c.arriving) < before {
		m.penalise(c)
		m.relieved()
	}
}
