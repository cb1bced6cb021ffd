package dcaa

import "fednode/query/tuple"

// pretence is what is remembered of a producer that told of what it did not give: it said nothing over a connection, or said STABLE
// and gave tentative results alone.
type pretence struct {
	// times is how often it has done so since it last gave what it told of. While it is not 0, what it tells of is no measure
	// for others.
	times uint
	// owed is what it told of: a stable boundary from there on shows that it was right after all, but slow.
	owed tuple.Time
	// believeAt is when its word counts again; before, it is worth what it gives.
	believeAt Instant
}

// mostPretence bounds by how much the wait before a producer is believed again grows: to 64 s.
const mostPretence = 5

// silent reports whether the producer is taken to give nothing, whatever it says of itself.
func (p *producer) silent(now Instant) bool { return now < p.silence.believeAt }

// found notes that the producer has done so again.
func (p *pretence) found(now Instant, told tuple.Time) {
	p.times = min(p.times+1, mostPretence)
	p.owed, p.believeAt = told, now.Add(patience<<p.times)
}

// gave forgets it once the producer has given what it told of.
func (p *pretence) gave(t tuple.Time) {
	if p.times > 0 && t >= p.owed {
		*p = pretence{}
	}
}

// pretends notes that the producer which is read from says STABLE all the while that the suffix is extended by it. On a slow link
// what it gave before may be on its way for as long: then it is worth no more either.
func (i *Intake) pretends(now Instant) {
	c := i.data
	if c == nil {
		return
	}
	p := &i.producers[c.producer]
	if !i.q.held || i.q.conn != c.id || i.owing || !p.heard || p.status.State != Stable || now < p.pretence.believeAt {
		c.claimsAt = Never
		return
	}
	if c.claimsAt = min(c.claimsAt, now); now >= c.claimsAt.Add(patience) {
		p.pretence.found(now, p.boundary)
		c.claimsAt = Never
	}
}
