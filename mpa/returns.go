package mpa

import "slices"

// takeBack recalls tasks that this participant would carry for less than the lowest price that it pays. The right holds
// once for each task and contract, until the load of a party's own clients has changed.
func (m *Machine) takeBack() {
	load := m.high()
	for i := range m.given {
		g := &m.given[i]
		if g.recalled {
			continue
		}
		limit := float64(g.to.Min) - m.cfg.Moving - m.cfg.Margin
		cost := Marginal(m.cfg.Cost, load, g.load) / g.load
		if !less(cost, limit) {
			continue
		}
		m.decide(Decision{Reason: TakesBack, Contract: g.to.ID, Partner: g.to.Partner, Task: g.id(), Size: g.load, Load: load, Money: cost, Limit: limit})
		if m.cfg.DryRun {
			continue
		}
		load += g.load
		m.recall(g, m.cfg.Self)
	}
}

// recall asks for a task that was given away, until it has come.
func (m *Machine) recall(g *given, to Party) {
	g.recalled, g.recallFor = true, to
	if to == m.cfg.Self {
		m.expect(g)
	}
	m.sendRecall(g)
}

// expect keeps room for a task that comes back, for as long as a migration may take: a partner that never sends it holds
// none for ever.
func (m *Machine) expect(g *given) {
	g.until = m.now.Add(m.cfg.Settings.MigrationTimeout)
	if !g.expected {
		g.expected = true
		m.reserved += g.load
	}
}

func (m *Machine) sendRecall(g *given) {
	g.sendAt = m.now.Add(m.cfg.Settings.Resend << g.tries)
	g.tries = min(g.tries+1, maxDoublings)
	m.send(g.to, Message{Kind: Recall, Tasks: []TaskID{g.id()}, To: g.recallFor})
}

// maxDoublings bounds how far apart recalls come that nobody heeds.
const maxDoublings = 5

// awaitReturns asks again for what has been recalled, and expects no longer what has not come.
func (m *Machine) awaitReturns() {
	late := false
	for i := range m.given {
		g := &m.given[i]
		if g.recalled && m.now >= g.sendAt {
			m.sendRecall(g)
		}
		if g.expected && m.now >= g.until {
			g.expected, late = false, true
			m.reserved -= g.load
		}
	}
	if late {
		m.relieved()
	}
}

// takeRecall sends tasks back to where they are called, or passes the call on to where they are.
func (m *Machine) takeRecall(c *contract, msg Message) {
	var gone []TaskID
	for _, id := range msg.Tasks {
		if at := m.find(id); at >= 0 {
			m.callBack(c, at, msg.To)
		} else if at := m.findGiven(id); at >= 0 {
			if g := &m.given[at]; g.inward() == c && !g.recalled && slices.Contains(g.chain(), msg.To) {
				m.recall(g, msg.To)
			}
		} else {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		m.send(c, Message{Kind: GiveBack, Tasks: gone, To: msg.To})
	}
}

// callBack sends a task that is carried to the party of its chain that takes it back.
func (m *Machine) callBack(c *contract, at int, to Party) {
	t := &m.tasks[at]
	if t.inward() != c || !slices.Contains(t.chain(), to) || t.state == leaving || !m.withdraw(t.id()) {
		return // not theirs to call, or on its way: they ask again
	}
	m.goBack(&m.tasks[m.find(t.id())], to)
}

// goBack begins the migration of a task to a party of its chain.
func (m *Machine) goBack(t *task, to Party) {
	if t.state == resting {
		m.out += t.load
	}
	t.state = leaving
	worth := Worth{Load: t.load, With: m.cfg.Cost.At(m.low() + t.load), Without: m.cfg.Cost.At(m.low())}
	m.ready.Migrate = append(m.ready.Migrate, Migration{Task: t.id(), To: to, Load: t.load, Price: t.more.price, Return: true, Worth: worth})
	m.send(t.more.contract, Message{Kind: GiveBack, Tasks: []TaskID{t.id()}, To: to})
}

// takeGiveBack hears that tasks go back to a party: to this one, or past it to one that gave them here.
func (m *Machine) takeGiveBack(c *contract, msg Message) {
	for _, id := range msg.Tasks {
		at := m.findGiven(id)
		if at < 0 || m.given[at].to != c {
			continue
		}
		g := &m.given[at]
		if msg.To != m.cfg.Self && !slices.Contains(g.chain(), msg.To) {
			continue // to nobody whom it could go back to: it stays in our books, and is called back when its time comes
		}
		if msg.To == m.cfg.Self {
			m.expect(g)
			continue
		}
		went := m.forget(at)
		if inward := went.inward(); inward != nil {
			inward.takenLoad -= went.load
			m.send(inward, Message{Kind: GiveBack, Tasks: []TaskID{id}, To: msg.To})
		}
	}
}

// forget drops what is known of a task that was given away.
func (m *Machine) forget(at int) given {
	g := m.given[at]
	m.given = slices.Delete(m.given, at, at+1)
	g.to.givenLoad -= g.load
	if g.expected {
		m.reserved -= g.load
	}
	return g
}

// cameBack takes a task that was given away and runs here again. Its chain ends here as it did before.
func (m *Machine) cameBack(id TaskID) (worth Worth, expected bool) {
	at := m.findGiven(id)
	if at < 0 {
		return Worth{}, false
	}
	g := m.forget(at)
	worth = Worth{Load: g.load, With: m.cfg.Cost.At(m.high() + g.load), Without: m.cfg.Cost.At(m.high())}
	if g.to.returned == nil || len(g.to.returned) >= maxReturned {
		g.to.returned = make(map[TaskID]float64)
	}
	g.to.returned[id] = m.own
	t := g.task
	t.state, t.since = resting, m.now
	m.insert(t)
	m.stirred = true
	return worth, true
}

// maxReturned bounds how many returned tasks are remembered for each contract; above it they may be offered again.
const maxReturned = 1 << 16

// giveBack returns tasks that cost more than the highest price pays for, when no partner takes them.
func (m *Machine) giveBack() {
	load := m.low()
	for i := len(m.tasks) - 1; i >= 0; i-- { // the longest chains first
		t := &m.tasks[i]
		c := t.inward()
		if c == nil {
			break // all before it are our own
		}
		if t.state != resting || c.ended {
			continue
		}
		limit := float64(c.Max) + m.cfg.Moving + m.cfg.Margin
		saving := Saving(m.cfg.Cost, load, t.load) / t.load
		if !less(limit, saving) || !m.tried(t) {
			continue
		}
		m.decide(Decision{Reason: GivesBack, Contract: c.ID, Partner: c.Partner, Task: t.id(), Size: t.load, Load: load, Money: saving, Limit: limit})
		load -= t.load
		if !m.cfg.DryRun {
			m.goBack(t, c.Partner)
		}
	}
}

// tried reports whether every partner that might take a task has refused, or is being asked.
func (m *Machine) tried(t *task) bool {
	for _, c := range m.contracts {
		if c.Give && !c.ended && m.mayGo(c, t, nil) && c.asks(c.Max) {
			return false
		}
	}
	return true
}

// endReturns sends everything back that came or went under contracts that have ended.
func (m *Machine) endReturns() {
	for i := range m.given {
		if g := &m.given[i]; g.to.ended && !g.recalled {
			m.decide(Decision{Reason: Ends, Contract: g.to.ID, Partner: g.to.Partner, Task: g.id(), Size: g.load})
			m.recall(g, m.cfg.Self)
		}
	}
	for i := range m.tasks {
		t := &m.tasks[i]
		c := t.inward()
		if c == nil || !c.ended || t.state == leaving || !m.withdraw(t.id()) {
			continue
		}
		m.decide(Decision{Reason: Ends, Contract: c.ID, Partner: c.Partner, Task: t.id(), Size: t.load})
		m.goBack(t, c.Partner)
	}
}
