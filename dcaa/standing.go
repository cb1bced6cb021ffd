package dcaa

import "fednode/query/tuple"

// rank is what a producer is worth by itself, and by what it gives over the connections there are and what the others give.
func (i *Intake) rank(now Instant, n int) rank {
	owing := i.owing && i.data != nil && i.data.producer == n
	p := &i.producers[n]
	r := p.rank(now, i.cfg.Settings, owing)
	switch {
	case r == tentative || r == restless:
		if !owing && i.idle(now, n) || p.dry && now < p.askAt {
			return stalled
		}
		if now < p.lateUntil || p.status.Holding > i.cfg.Settings.MaxDelay {
			return late
		}
	case r == stable && !owing && i.ahead(now, n):
		return correcting
	}
	return r
}

// idle reports whether a producer that is read from for its tentative results gives none: it may have lost all its inputs.
func (i *Intake) idle(now Instant, n int) bool {
	for _, c := range []*conn{i.data, i.next} {
		if c != nil && c.producer == n && c.tentative && c.open && now > i.idleAt(c) {
			return true
		}
	}
	return false
}

// idleAt is until when a connection may bring no results. One that holds a bucket has not lost all its inputs: it waits for
// one that has come back or has just failed, and gives up before its consumers have to. It is believed for as long as the
// bucket may be held at all, and that is the less the later the one before has come: it may have lost its last input since,
// and has nothing to give up then.
func (i *Intake) idleAt(c *conn) Instant {
	s := i.cfg.Settings
	at := c.overdueAt(s)
	if i.producers[c.producer].status.Holding > 0 {
		at = max(at, c.movedAt.Add(s.tick()-c.delay).Add(s.latest()))
	}
	return at
}

// ahead reports whether another replica is ahead of a stable one that holds a bucket: it has given up what this one waits
// for, as after a standstill that put this one's hold times off. The stable one is good for what it has got further with
// then, as one that makes corrections is, and not for new tuples.
func (i *Intake) ahead(now Instant, n int) bool {
	p := &i.producers[n]
	by := lead(i.cfg.Settings)
	if p.status.Holding == 0 || p.boundary == tuple.MinTime {
		return false
	}
	if i.q.held && i.q.boundary > p.boundary.Add(by) {
		return true
	}
	if now <= p.movedAt.Add(by) {
		return false
	}
	for m := range i.producers {
		if o := &i.producers[m]; m != n && o.gaveUp != Never && now > o.gaveUp.Add(by) && i.rank(now, m) >= restless {
			return true
		}
	}
	return false
}

// lead is how far a replica is ahead that makes one which holds count for less: two buckets.
func lead(s *Settings) int64 { return 2 * s.tick() }

// doubt notes who was asked and does not answer, or tells of more and gives nothing: one that is read from would have the rest
// count as outrun by what nobody gets, one that is to take its place or makes corrections would keep another one from doing so.
// It is asked again after a while: it may have been slow, or the way to it.
func (i *Intake) doubt(now Instant) {
	for _, c := range i.doubted() {
		if c == nil || i.owing || now < c.cameAt.Add(patience) {
			continue
		}
		p := &i.producers[c.producer]
		if p.heard && !p.silent(now) && (!c.open || p.boundary > i.pos.Time) && i.another(now, c.producer) {
			p.silence.found(now, p.boundary)
		}
	}
}

// doubted are the connections that are looked at for that.
func (i *Intake) doubted() []*conn { return []*conn{i.data, i.next, i.correct} }

// another reports whether there is a producer to be asked beside one, and beside that which is read from and gives something: that
// one is read from all the same, and who is slow may be the only one to have the rest.
func (i *Intake) another(now Instant, than int) bool {
	for n := range i.producers {
		p := &i.producers[n]
		if n == than || !p.up || !p.heard || p.silent(now) || p.lost {
			continue
		}
		if i.data == nil || i.data.producer != n || i.rank(now, n) <= stalled {
			return true
		}
	}
	return false
}

// dry notes who was asked for tentative results and gives none. It is asked again now and then, but nothing is held for it.
func (i *Intake) dry(now Instant) {
	if i.owing {
		return
	}
	for n := range i.producers {
		if p := &i.producers[n]; p.status.State == UpstreamFailure && i.idle(now, n) {
			p.dry, p.askAt = true, now.Add(second)
		}
	}
}
