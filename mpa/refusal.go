package mpa

import "fednode/contracts"

// refusal is what a giver remembers of a partner that took less than it was offered.
type refusal struct {
	counts bool
	price  contracts.Price // the highest that was refused
	until  Instant
}

// demand is what a taker remembers of an offer that it refused: somebody would pay that for room.
type demand struct {
	alive bool
	price contracts.Price
	size  float64 // of the smallest task refused
	load  float64 // of all that were refused, less what has been passed on for them
	until Instant
}

// refused remembers that a partner did not take everything at a price.
func (m *Machine) refused(c *contract, price contracts.Price) {
	s := &m.cfg.Settings
	if c.refusal.counts {
		price = max(price, c.refusal.price)
	}
	rounds := float64(s.Remember) * (0.5 + m.uniform())
	c.refusal = refusal{counts: true, price: price, until: m.now.Add(int64(rounds * float64(s.Round)))}
}

// fits remembers how many tasks a partner has taken: it is offered one more the next time, so that it knows that more is
// wanted, and the others are free for other partners meanwhile.
func (c *contract) fits(taken, asked int) {
	if asked == 0 {
		return // all of the offer was withdrawn meanwhile: the answer says nothing of room
	}
	c.quota = taken + 1
	if taken == asked {
		c.quota = 2 * asked
	}
}

// asks reports whether a partner may be asked at a price.
func (c *contract) asks(price contracts.Price) bool {
	return !c.refusal.counts || price > c.refusal.price
}

// expire ends what of a contract has run out.
func (m *Machine) expire(c *contract) {
	if c.refusal.counts && m.now >= c.refusal.until {
		c.refusal, c.quota, m.stirred = refusal{}, MaxItems, true
	}
	if c.demand.alive && m.now >= c.demand.until {
		c.demand = demand{}
	}
	if c.open != nil && m.now >= c.open.resendAt {
		m.resend(c)
	}
	if c.reserve != nil && m.now >= c.reserve.until {
		m.runOut(c)
	}
	m.expireArrivals(c)
}

// relieved looks, after load has fallen, whether what was refused would fit now.
func (m *Machine) relieved() {
	m.stirred = true
	if m.paused {
		return
	}
	for _, c := range m.contracts {
		d := &c.demand
		if !d.alive || c.ended || !HasRoom(m.cfg.Cost, m.high(), d.size, float64(d.price)) {
			continue
		}
		m.decide(Decision{Reason: SaysRoom, Contract: c.ID, Partner: c.Partner, Load: m.high(), Limit: float64(d.price)})
		m.sayRoom(c)
		*d = demand{}
	}
}

func (m *Machine) sayRoom(c *contract) {
	m.send(c, Message{Kind: Room, Renewed: c.renewed})
	c.renewed = false
}

// takeRoom takes the word of a partner that it has room again.
func (m *Machine) takeRoom(c *contract, msg Message) {
	renews := msg.Renewed && len(c.returned) > 0
	if !c.refusal.counts && !renews {
		return // it changes nothing: a flood of such words costs no rounds
	}
	if renews {
		clear(c.returned)
	}
	c.refusal = refusal{}
	m.soon(0)
}

// ownChanged renews, when the load of the participant's own clients has changed enough, the right to offer what was
// returned, on both sides.
func (m *Machine) ownChanged() {
	m.stirred = true
	for _, c := range m.contracts {
		changed := false
		for id, base := range c.returned {
			if diff := m.own - base; diff > m.cfg.Hysteresis || -diff > m.cfg.Hysteresis {
				delete(c.returned, id)
				changed = true
			}
		}
		if changed {
			c.renewed = true
			m.sayRoom(c)
		}
	}
}

func (m *Machine) send(c *contract, msg Message) {
	if m.cfg.DryRun {
		return
	}
	msg.Contract = c.ID
	m.ready.Send = append(m.ready.Send, Envelope{To: c.Partner, Message: msg})
}
