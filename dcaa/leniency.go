package dcaa

import "fednode/query/tuple"

// leniency is for how long the stream that is read may lie behind before another replica is read from. It begins with
// nothing beyond the rules of a stall, and grows when a replica that was left for a stall goes on after all: on a line that
// loses packets all replicas stall for a moment now and then, and to change each time would be to change for ever. It
// decides about changing only; whether an input counts as failed is not its business.
type leniency struct {
	extra int64   // microseconds beyond when the stall began
	at    Instant // when extra was set
	left  leaving
}

// leaving is a producer that was left for a stall, and how far it had come.
type leaving struct {
	on       bool
	producer int
	since    Instant
	boundary tuple.Time
}

// halfLife is how long it takes until half of what was added is gone.
const halfLife = 60 * second

// mostLenient bounds it: a change still has to come well before a bucket's budget is spent.
func (s *Settings) mostLenient() int64 { return min(second, s.MaxDelay/3) }

// limit is for how long a stall may last at a time.
func (l *leniency) limit(now Instant) int64 {
	extra := l.extra
	for since := int64(now - l.at); since >= halfLife && extra > 0; since -= halfLife {
		extra /= 2
	}
	return extra
}

// leave notes that a producer is left although it lives.
func (l *leniency) leave(n int, p *producer) {
	l.left = leaving{on: true, producer: n, since: p.stalledSince(), boundary: p.boundary}
}

// look notes whether the producer that was left has gone on. One that went down had failed.
func (l *leniency) look(now Instant, producers []producer, s *Settings) {
	if !l.left.on {
		return
	}
	p := &producers[l.left.producer]
	switch {
	case !p.up:
		l.left.on = false
	case p.boundary > l.left.boundary:
		l.left.on = false
		late := int64(now - l.left.since)
		if wanted := min(late+late/2, s.mostLenient()); wanted > l.limit(now) {
			l.extra, l.at = wanted, now
		}
	}
}

// forbears reports whether the producer that is read from is given more time: it lives, and its stall is one of those that
// pass.
func (l *leniency) forbears(now Instant, p *producer) bool {
	return p.up && p.heard && !p.silent && now < p.stalledSince().Add(l.limit(now))
}

// stalledSince is since when the producer has not moved, or has been behind another one, whatever is longer.
func (p *producer) stalledSince() Instant {
	since := p.movedAt.Add(p.ahead)
	if p.chased != tuple.MinTime {
		since = min(since, p.behindAt)
	}
	return since
}
