package dcaa

import "fednode/query/tuple"

// Heard takes what a producer's heartbeat says of the stream.
func (i *Intake) Heard(now Instant, producer int, s StreamStatus) {
	p := &i.producers[producer]
	if was := p.status.Generation; was != 0 && s.Generation != was {
		p.changes(now, s.Boundary)
	}
	if s.State != p.status.State || s.Boundary > p.boundary {
		p.dry = false
	}
	switch {
	case s.State != UpstreamFailure:
		p.gaveUp, p.lateUntil = Never, 0
	case p.gaveUp == Never:
		p.gaveUp = now
	}
	p.status, p.heard = s, true
	p.moved(now, s.Boundary, Age{}, i.mostAhead(now, s.Boundary), i.cfg.Settings)
	i.compare(check{generation: s.Generation, boundary: s.Boundary, sum: s.Sum, producer: producer})
	i.choose(now)
}

// Measured notes what is known of the way from a producer.
func (i *Intake) Measured(producer int, w Way) { i.producers[producer].way = w }

// Reachable says whether a producer is heard and hears us.
func (i *Intake) Reachable(now Instant, producer int, up bool) {
	p := &i.producers[producer]
	if p.up == up {
		return
	}
	if !up && i.data != nil && i.data.producer == producer && p.heard {
		p.stalls()
	}
	p.up, p.heard, p.dry, p.lateUntil, p.meanUntil, p.gaveUp = up, false, false, 0, 0, Never
	if p.downAt = now; up {
		p.begin(now) // in another life it may hold other rows
		i.anew(producer)
	}
	i.choose(now)
}

// anew ends the connections to a producer that was away: what has waited on its way meanwhile would seem as new as it was
// when it was sent. Asked for again, it comes with the age that it has.
func (i *Intake) anew(producer int) {
	for _, c := range i.slots() {
		if *c != nil && (*c).producer == producer && (*c).open {
			i.close(c)
		}
	}
}

// Owe says whether the consumer owes credit: then a boundary that does not come is its own overload, not a failure.
func (i *Intake) Owe(owing bool) { i.owing = owing }

// Opened grants a connection.
func (i *Intake) Opened(now Instant, id uint64) {
	c := i.conn(id)
	if c == nil {
		return
	}
	c.open, c.movedAt, c.cameAt = true, now, now
	if c == i.next && (i.data == nil || !i.data.open || i.rank(now, i.data.producer) <= unknown) {
		i.promote()
	}
	i.choose(now)
}

// Refused declines a connection, for now.
func (i *Intake) Refused(now Instant, id uint64) {
	if c := i.conn(id); c != nil {
		i.producers[c.producer].refused(now)
		i.declines(now, c)
		i.drop(now, c)
		i.choose(now)
	}
}

// Truncated declines a connection: the producer holds nothing before first any more.
func (i *Intake) Truncated(now Instant, id uint64, first tuple.Position) {
	if c := i.conn(id); c != nil {
		i.lacks(now, c, first, nil)
	}
}

// lacks ends a connection to a producer that could go on only behind rows which the consumer does not hold.
func (i *Intake) lacks(now Instant, c *conn, oldest tuple.Position, gap *tuple.Frame) {
	p := &i.producers[c.producer]
	if !reaches(i.pos, oldest) { // else what the connection lacked has come over another one meanwhile
		p.lacks(i.pos, oldest, gap)
	}
	p.refused(now)
	i.drop(now, c)
	i.choose(now)
}

// Closed ends a connection from the other side. A producer that grants a stream and gives nothing new of it is asked more
// and more rarely, like one that declines.
func (i *Intake) Closed(now Instant, id uint64) {
	if c := i.conn(id); c != nil {
		if !c.gave {
			i.producers[c.producer].refused(now)
			i.declines(now, c)
		}
		i.drop(now, c)
		i.choose(now)
	}
}

// Resume goes on at a position that the consumer has reached by other means, such as a state transfer.
func (i *Intake) Resume(now Instant, at tuple.Position) {
	for _, c := range i.slots() {
		if *c != nil {
			i.close(c)
		}
	}
	i.pos, i.q, i.dueAt = at, suffix{}, Never
	for n := range i.producers {
		i.producers[n].found()
		i.producers[n].forgive()
	}
	i.choose(now)
}

// Resumed says that the consumer stood still for so long: silence in that time means nothing.
func (i *Intake) Resumed(now Instant, gap int64) {
	for n := range i.producers {
		p := &i.producers[n]
		p.movedAt = min(now, p.movedAt.Add(gap))
		p.behindAt = min(now, p.behindAt.Add(gap))
		p.downAt = min(now, p.downAt.Add(gap))
		p.stall.since = min(now, p.stall.since.Add(gap))
	}
	for _, slot := range i.slots() {
		if c := *slot; c != nil {
			c.movedAt = min(now, c.movedAt.Add(gap))
			c.cameAt = min(now, c.cameAt.Add(gap))
			c.claimsAt, c.lateAt = resumed(c.claimsAt, now, gap), resumed(c.lateAt, now, gap)
		}
	}
	i.began = min(now, i.began.Add(gap))
	for _, since := range []*Instant{&i.lostSince, &i.missed.since, &i.skipped.since} {
		*since = resumed(*since, now, gap)
	}
}

// resumed moves a time since which something has been so behind a gap; Never stays.
func resumed(since, now Instant, gap int64) Instant {
	if since == Never {
		return Never
	}
	return min(now, since.Add(gap))
}
