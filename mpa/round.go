package mpa

import "cmp"

// Tick does what is due.
func (m *Machine) Tick(now Instant) {
	m.begin(now)
	for _, c := range m.contracts {
		m.expire(c)
	}
	m.awaitReturns()
	if m.now >= m.stayed {
		m.stayed, m.stirred = Never, true
	}
	if m.stirred && m.now >= m.roundAt {
		m.round()
	}
	m.end()
}

// round looks at everything that can move: what comes back, what is offered, what is given back.
func (m *Machine) round() {
	m.stirred, m.stayed = false, Never
	s := &m.cfg.Settings
	m.roundAt = m.now.Add(int64(float64(s.Round) * (1 + s.Jitter*(2*m.uniform()-1))))
	m.recount()
	m.endReturns()
	if m.paused {
		return
	}
	m.takeBack()
	m.offer()
	m.giveBack()
}

// soon makes the next round come after a time at the latest.
func (m *Machine) soon(after int64) {
	m.stirred = true
	m.roundAt = min(m.roundAt, m.now.Add(after))
}

// recount sums the views anew: running sums drift.
func (m *Machine) recount() {
	m.held, m.out, m.reserved = 0, 0, 0
	for i := range m.tasks {
		m.held += m.tasks[i].load
		if m.tasks[i].state != resting {
			m.out += m.tasks[i].load
		}
	}
	for _, c := range m.contracts {
		if c.reserve != nil {
			m.reserved += c.reserve.load
		}
		for i := range c.arriving {
			m.reserved += c.arriving[i].Load
		}
	}
	for i := range m.given {
		if m.given[i].expected {
			m.reserved += m.given[i].load
		}
	}
}

func (m *Machine) low() float64  { return max(0, m.held-m.out) }
func (m *Machine) high() float64 { return max(0, m.held+m.reserved) }

// compareContracts orders contracts, the cheapest first: by the highest price of their ranges, then by id.
func compareContracts(a, b *contract) int {
	return cmp.Or(cmp.Compare(a.Max, b.Max), cmp.Compare(a.ID, b.ID))
}
