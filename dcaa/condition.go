package dcaa

import (
	"slices"

	"fednode/query/tuple"
)

// Condition says how the input fares.
func (i *Intake) Condition(now Instant) Condition {
	if !i.begun && i.pos.ID == 0 && i.pos.Time == tuple.MinTime && now < i.began.Add(i.cfg.Settings.InitDelay) {
		return Waiting
	}
	for _, c := range []*conn{i.data, i.next} {
		// One that has just been asked has not answered yet: to give up within that round trip would lose what it gives.
		if c != nil && (c.open || c == i.next) && !i.producers[c.producer].dry && i.rank(now, c.producer) > stalled {
			return Live
		}
	}
	if c := i.loan; c != nil && c.open && now <= i.idleAt(c) {
		return Live
	}
	return Failed
}

// Unproven reports whether all that the input is read from has been asked for tentative results in place of a replica that
// gave none, and has given nothing yet either. It lives, but may well lack the same inputs as that one.
func (i *Intake) Unproven() bool {
	asked := false
	for _, c := range []*conn{i.data, i.next} {
		if c == nil || i.producers[c.producer].dry {
			continue
		}
		if asked = true; c.gave || i.producers[c.producer].status.State != UpstreamFailure {
			return false
		}
	}
	return asked && slices.ContainsFunc(i.producers, func(p producer) bool { return p.dry })
}

// Withheld is for how long a producer that the input is read from, or one above it, has held a bucket, in microseconds; 0 if none
// does. It gives up first. A source never holds one; a fragment may, of another query too. Who has held one for longer than our
// bound has not given up first, and may never do: its own bound is larger, or it gives stable results only.
func (i *Intake) Withheld() int64 {
	most := int64(0)
	for _, c := range []*conn{i.data, i.next} {
		if c == nil || !i.producers[c.producer].up {
			continue
		}
		s := &i.producers[c.producer].status
		for _, held := range [...]int64{s.Holding, s.Above} {
			if held <= i.cfg.Settings.MaxDelay {
				most = max(most, held)
			}
		}
	}
	return most
}

// WaitsUntil is when a stream that has never given a boundary counts as failed.
func (i *Intake) WaitsUntil() Instant { return i.began.Add(i.cfg.Settings.InitDelay) }

// Way returns what the way of a connection adds to ages.
func (i *Intake) Way(conn uint64) Age {
	if c := i.conn(conn); c != nil {
		return i.producers[c.producer].way.Age()
	}
	return Age{}
}

// Current reports whether the consumer has caught up with the producer that it reads from.
func (i *Intake) Current() bool {
	if i.data == nil || !i.data.open {
		return false
	}
	p := &i.producers[i.data.producer]
	return p.heard && i.pos.Time >= p.status.Boundary
}

// StableReachable reports whether a stable replica can be reached that gives more than the consumer holds, or soon will.
func (i *Intake) StableReachable(now Instant) bool {
	for n := range i.producers {
		p := &i.producers[n]
		if i.rank(now, n) == stable && !p.lost && p.status.Holding == 0 {
			return true
		}
	}
	return false
}

// Lives reports whether a reachable producer is stable or about to correct: a redo may count on it.
func (i *Intake) Lives(now Instant) bool {
	for n := range i.producers {
		if r := i.rank(now, n); r == stable || r == correcting || r == starting {
			return true
		}
	}
	return false
}

// Told is the furthest boundary that a reachable producer has, MinTime if none has any.
func (i *Intake) Told() tuple.Time { return i.furthest() }

func (i *Intake) furthest() tuple.Time {
	far := tuple.MinTime
	for n := range i.producers {
		if p := &i.producers[n]; p.up && p.silence.times == 0 && p.pretence.times == 0 {
			far = max(far, p.boundary)
		}
	}
	return far
}
