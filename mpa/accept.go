package mpa

import (
	"math"
	"slices"
)

// reservation is room that is kept for the tasks of an answered offer.
type reservation struct {
	number uint64
	items  []Item
	worth  []Worth // of items
	load   float64
	since  Instant
	until  Instant
}

// Receive takes a message of a partner.
func (m *Machine) Receive(now Instant, from Party, msg Message) {
	m.begin(now)
	defer m.end()
	c := m.contract(msg.Contract)
	if c == nil || c.Partner != from || len(msg.Items) > MaxItems || len(msg.Tasks) > MaxItems {
		return // no contract, no answer
	}
	switch msg.Kind {
	case Offer:
		m.takeOffer(c, msg)
	case Answer:
		m.takeAnswer(c, msg)
	case Commit:
		m.takeCommit(c, msg)
	case Settled:
		m.takeSettled(c, msg)
	case Room:
		m.takeRoom(c, msg)
	case Recall:
		m.takeRecall(c, msg)
	case GiveBack:
		m.takeGiveBack(c, msg)
	}
}

// takeOffer answers an offer, once: the same number again is given the same answer, a lower one none.
func (m *Machine) takeOffer(c *contract, msg Message) {
	switch {
	case msg.Number < c.answered || msg.Number == 0:
		return
	case msg.Number == c.answered:
		m.send(c, c.answer)
		return
	}
	m.wasted(c) // the giver has gone on: it does not want what was reserved
	m.free(c)
	c.answered, c.settled = msg.Number, Message{}
	c.answer = Message{Kind: Answer, Number: msg.Number}
	if taken, worth := m.choose(c, msg.Items); len(taken) > 0 {
		c.reserve = &reservation{number: msg.Number, items: taken, worth: worth, since: m.now, until: m.now.Add(m.cfg.Settings.Reserve)}
		for _, item := range taken {
			c.reserve.load += item.Load
			c.answer.Tasks = append(c.answer.Tasks, item.Task)
		}
		m.reserved += c.reserve.load
	}
	m.send(c, c.answer)
}

// choose goes through the tasks of an offer in order and takes those that cost less than their price, given what has been
// taken and reserved already.
func (m *Machine) choose(c *contract, items []Item) (taken []Item, worth []Worth) {
	if m.paused || c.ended || !c.Take || m.now < c.waitUntil {
		if m.now < c.waitUntil {
			m.decide(Decision{Reason: Waits, Contract: c.ID, Partner: c.Partner})
		}
		return nil, nil
	}
	load := m.high()
	under, coming := c.takenLoad+c.arrivingLoad(), len(c.arriving)
	wanted := demand{size: math.Inf(1)}
	for _, item := range items {
		d := Decision{Contract: c.ID, Partner: c.Partner, Task: item.Task, Size: item.Load, Price: item.Price, Load: load}
		switch {
		case !m.canBe(c, item) || slices.ContainsFunc(taken, func(t Item) bool { return t.Task == item.Task }):
			d.Reason = NotForUs
		case !c.allows(item.Task, item.Load) || under+item.Load > c.MaxLoad || coming+len(taken) >= maxArriving:
			d.Reason = OverContract
		default:
			d.Money, d.Limit, d.Reason = Marginal(m.cfg.Cost, load, item.Load)/item.Load, float64(item.Price), TooDear
			if HasRoom(m.cfg.Cost, load, item.Load, float64(item.Price)) {
				d.Reason = Takes
				taken = append(taken, item)
				worth = append(worth, Worth{Load: item.Load, With: m.cfg.Cost.At(load + item.Load), Without: m.cfg.Cost.At(load)})
				load += item.Load
				under += item.Load
			} else {
				wanted.add(item)
			}
		}
		m.decide(d)
	}
	if wanted.load > 0 {
		m.remember(c, wanted)
	}
	if m.cfg.DryRun {
		return nil, nil
	}
	return taken, worth
}

// canBe reports whether an item can be what it says: a task that a giver of this contract may offer here.
func (m *Machine) canBe(c *contract, item Item) bool {
	chain := item.Chain
	return checkLoad(item.Load) == nil && item.Price >= c.Min && item.Price <= c.Max &&
		len(chain) > 0 && len(chain) <= maxChain && chain[0] == item.Task.Owner && chain[len(chain)-1] == c.Partner &&
		!slices.Contains(chain, m.cfg.Self) && !m.knows(item.Task)
}

// knows reports whether a task is carried here, was given away from here, or is expected already: two partners cannot both
// bring it.
func (m *Machine) knows(id TaskID) bool {
	if m.find(id) >= 0 || m.findGiven(id) >= 0 {
		return true
	}
	for _, c := range m.contracts {
		if c.reserve != nil && slices.ContainsFunc(c.reserve.items, func(i Item) bool { return i.Task == id }) ||
			slices.ContainsFunc(c.arriving, func(a arrival) bool { return a.Task == id }) {
			return true
		}
	}
	return false
}

// maxArriving bounds how many tasks are on their way under one contract: a giver that commits and never sends takes no
// more memory than that.
const maxArriving = 4 * MaxItems

// maxChain bounds through how many hands a task may go.
const maxChain = 64

func (d *demand) add(item Item) {
	d.price = max(d.price, item.Price)
	d.size = math.Min(d.size, item.Load)
	d.load += item.Load
}

// remember keeps what was refused: if load can be passed on for less, there will be room for it.
func (m *Machine) remember(c *contract, wanted demand) {
	s := &m.cfg.Settings
	wanted.alive, wanted.until = true, m.now.Add(s.Remember*s.Round)
	c.demand = wanted
	if slices.ContainsFunc(m.contracts, func(o *contract) bool { return o != c && o.Give && o.Min < o.Max }) {
		m.soon(s.AfterRefusal)
	}
}

// free lets go of what is reserved under a contract.
func (m *Machine) free(c *contract) {
	if c.reserve == nil {
		return
	}
	m.reserved -= c.reserve.load
	c.reserve = nil
	m.relieved()
}

// runOut ends a reservation that no commit came for.
func (m *Machine) runOut(c *contract) {
	m.decide(Decision{Reason: LetsGo, Contract: c.ID, Partner: c.Partner, Size: c.reserve.load})
	m.wasted(c)
	m.free(c)
}

// wasted counts for how long room has been reserved for nothing. A giver that lets a reservation run out, or as much time
// pass with reservations that it replaces or lets go of, is refused.
func (m *Machine) wasted(c *contract) {
	if c.reserve == nil {
		return
	}
	c.idle += int64(m.now - c.reserve.since)
	if c.idle >= m.cfg.Settings.Reserve {
		m.penalise(c)
	}
}

// penalise refuses a giver everything for a while, for longer each time until a task of it arrives: hoarding gains
// nothing.
func (m *Machine) penalise(c *contract) {
	c.idle = 0
	c.waitSpan = min(max(m.cfg.Settings.Penalty, 2*c.waitSpan), maxPenalty)
	c.waitUntil = m.now.Add(c.waitSpan)
}

// maxPenalty bounds for how long a giver is refused.
const maxPenalty = 3600 * second

func (c *contract) arrivingLoad() float64 {
	sum := 0.0
	for i := range c.arriving {
		sum += c.arriving[i].Load
	}
	return sum
}
