package mpa

import (
	"cmp"
	"math"
	"slices"

	"fednode/contracts"
)

// openOffer is an offer that has not come to its end.
type openOffer struct {
	items    []Item
	worth    []Worth // of items, once they are committed
	sent     Message // the last message of it
	resendAt Instant
	tries    int
	relayed  *contract // for whose demand it passes load on
}

// offer offers tasks one by one, larger first, one's own before longer chains, while the saving of each, given those that
// are offered already, is above its price and the move.
func (m *Machine) offer() {
	load := m.low()
	least := float64(m.cheapest()) + m.cfg.Moving
	// No task saves more for each unit than the slope of a convex cost: most parties are done here.
	if !less(least, m.cfg.Cost.Slope(load)) {
		return
	}
	partners := m.partners()
	batches := make([][]Item, len(partners))
	relayed := make([]*contract, len(partners))
	for i := range m.tasks {
		t := &m.tasks[i]
		if t.state != resting {
			continue
		}
		saving := Saving(m.cfg.Cost, load, t.load) / t.load
		if !less(least, saving) {
			continue // a smaller task may still save more for each unit
		}
		if until := t.since.Add(m.cfg.Settings.MinStay); m.now < until {
			m.stayed = min(m.stayed, until)
			continue
		}
		at, price, source := m.place(partners, batches, relayed, t, saving)
		if at < 0 {
			continue
		}
		c := partners[at]
		m.decideOffer(c, t, load, saving, price, source)
		if m.cfg.DryRun {
			load -= t.load
			continue
		}
		batches[at] = append(batches[at], Item{Task: t.id(), Load: t.load, Price: price, Chain: m.chainOf(t)})
		relayed[at] = source
		if source != nil {
			source.demand.load -= t.load
		}
		t.state = offered
		m.out += t.load
		load -= t.load
	}
	for at, items := range batches {
		if len(items) > 0 {
			m.sendOffer(partners[at], items, relayed[at])
		}
	}
}

// partners lists the contracts that load can be offered under now: in order of price, then longest not asked.
func (m *Machine) partners() []*contract {
	list := make([]*contract, 0, len(m.contracts))
	for _, c := range m.contracts {
		if c.offers() {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *contract) int {
		return cmp.Or(cmp.Compare(a.Max, b.Max), cmp.Compare(a.askedAt, b.askedAt))
	})
	return list
}

// offers reports whether load can be offered under a contract now.
func (c *contract) offers() bool { return c.Give && !c.ended && c.open == nil }

// cheapest is the lowest price at which anything could be offered now.
func (m *Machine) cheapest() contracts.Price {
	low, wanted := contracts.MaxPrice, m.demanded()
	for _, c := range m.contracts {
		if !c.offers() {
			continue
		}
		price := c.Max
		if wanted {
			price = c.Min
		}
		low = min(low, price)
	}
	return low
}

// demanded reports whether a partner has been refused room that it would pay for.
func (m *Machine) demanded() bool {
	return slices.ContainsFunc(m.contracts, func(c *contract) bool { return c.demand.alive && !c.ended && c.demand.load > 0 })
}

// place finds the partner that a task is offered to, and the price; -1 if there is none. source is the contract for whose
// demand it is passed on below the highest price.
func (m *Machine) place(partners []*contract, batches [][]Item, relayed []*contract, t *task, saving float64) (at int, price contracts.Price, source *contract) {
	for at, c := range partners {
		if len(batches[at]) >= min(c.quota, MaxItems) {
			continue
		}
		price, source := c.Max, (*contract)(nil)
		if !less(float64(c.Max)+m.cfg.Moving, saving) {
			price = c.step(saving - m.cfg.Moving)
			if source = m.demandAbove(c, t, float64(price)+m.cfg.Moving); source == nil {
				continue
			}
		}
		if !less(float64(price)+m.cfg.Moving, saving) || !c.asks(price) || !m.mayGo(c, t, batches[at]) {
			continue
		}
		if len(batches[at]) > 0 && relayed[at] != source {
			continue // one offer serves one purpose
		}
		return at, price, source
	}
	return -1, 0, nil
}

// mayGo reports whether a task may be offered under a contract at all.
func (m *Machine) mayGo(c *contract, t *task, batch []Item) bool {
	if _, back := c.returned[t.id()]; back || !c.allows(t.id(), t.load) {
		return false
	}
	if len(t.chain()) >= maxChain {
		return false // the taker would refuse it
	}
	return c.hasLoadFor(t.load, batch) && t.owner != c.Partner && !slices.Contains(t.chain(), c.Partner)
}

// hasLoadFor reports whether a task stays within the contract's load, given what was given, is leaving and is being
// offered.
func (c *contract) hasLoadFor(load float64, batch []Item) bool {
	if math.IsInf(c.MaxLoad, 1) {
		return true
	}
	load += c.givenLoad
	for _, items := range [][]Item{batch, c.leaving} {
		for i := range items {
			load += items[i].Load
		}
	}
	return load <= c.MaxLoad
}

// step returns the highest price of the contract's steps that is not above a sum; the lowest price if none is.
func (c *contract) step(sum float64) contracts.Price {
	if sum <= float64(c.Min) || c.Max == c.Min {
		return c.Min
	}
	width := max(1, (c.Max-c.Min)/priceSteps)
	steps := contracts.Price((sum - float64(c.Min)) / float64(width))
	return min(c.Max, c.Min+steps*width)
}

// demandAbove finds a demand of another partner at a price or more that a task would make room for.
func (m *Machine) demandAbove(to *contract, t *task, price float64) *contract {
	for _, c := range m.contracts {
		d := &c.demand
		if c != to && !c.ended && d.alive && d.load > 0 && float64(d.price) >= price*(1-tolerance) && c.Partner != to.Partner {
			return c
		}
	}
	return nil
}

// chainOf is the chain of a task when it leaves here.
func (m *Machine) chainOf(t *task) []Party {
	return append(slices.Clip(slices.Clone(t.chain())), m.cfg.Self)
}

func (m *Machine) decideOffer(c *contract, t *task, load, saving float64, price contracts.Price, source *contract) {
	d := Decision{Reason: Offers, Contract: c.ID, Partner: c.Partner, Task: t.id(), Size: t.load, Load: load,
		Money: saving, Limit: float64(price) + m.cfg.Moving, Price: price}
	if source != nil {
		d.Reason = PassesOn
	}
	m.decide(d)
}

func (m *Machine) sendOffer(c *contract, items []Item, source *contract) {
	c.number++
	c.askedAt = m.now
	c.open = &openOffer{items: items, relayed: source, sent: Message{Kind: Offer, Number: c.number, Items: items},
		resendAt: m.now.Add(m.cfg.Settings.Resend)}
	m.send(c, c.open.sent)
}

// resend sends the last message of an offer again, and gives an offer up that nobody answers. What has been committed is
// given up only when it surely has not come: after the time that a migration may take.
func (m *Machine) resend(c *contract) {
	o := c.open
	o.tries++
	limit := m.cfg.Settings.Tries
	if o.sent.Kind == Commit {
		limit = max(limit, int(2*m.cfg.Settings.MigrationTimeout/m.cfg.Settings.Resend))
	}
	if o.tries >= limit {
		m.decide(Decision{Reason: LetsGo, Contract: c.ID, Partner: c.Partner})
		m.refused(c, c.Max)
		m.letGo(c, nil)
		return
	}
	o.resendAt = m.now.Add(m.cfg.Settings.Resend)
	m.send(c, o.sent)
}

// letGo ends the open offer of a contract: the tasks that it names, but those kept, rest again.
func (m *Machine) letGo(c *contract, kept []TaskID) {
	for _, item := range c.open.items {
		if slices.Contains(kept, item.Task) {
			continue
		}
		if at := m.find(item.Task); at >= 0 {
			m.rest(&m.tasks[at])
		}
		if source := c.open.relayed; source != nil && source.demand.alive {
			source.demand.load += item.Load // nothing made room for it
		}
	}
	c.open = nil
	m.stirred = true
}

// rest makes a task one that stays.
func (m *Machine) rest(t *task) {
	if t.state != resting {
		t.state = resting
		m.out -= t.load
	}
}

// withdraw takes a task out of the open offer that names it. It reports false if it has been committed: then it may be
// on its way already.
func (m *Machine) withdraw(id TaskID) bool {
	for _, c := range m.contracts {
		if c.open == nil {
			continue
		}
		at := slices.IndexFunc(c.open.items, func(i Item) bool { return i.Task == id })
		if at < 0 {
			continue
		}
		if c.open.sent.Kind == Commit {
			return false
		}
		// The slice may be on its way inside a message: it is copied, not changed.
		c.open.items = slices.Delete(slices.Clone(c.open.items), at, at+1)
		if k := m.find(id); k >= 0 {
			m.rest(&m.tasks[k])
		}
	}
	return true
}
