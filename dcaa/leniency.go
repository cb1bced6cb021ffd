package dcaa

import "fednode/query/tuple"

// leniency is for how long the stream that is read may lie behind before another replica is read from. It begins with
// nothing beyond the rules of a stall, and grows when a replica that stalled goes on after all, be it that it was left for
// that or not: on a line that loses packets all replicas stall for a moment now and then, and to change each time would be to
// change for ever. It decides about changing only; whether an input counts as failed is not its business.
type leniency struct {
	extra int64   // microseconds from when a stall began
	at    Instant // when extra was set
}

// stall is one that a producer which was read from is in, and how far it had come.
type stall struct {
	on       bool
	since    Instant
	boundary tuple.Time
}

// halfLife is how long it takes until half of what was added is gone.
const halfLife = 60 * second

// mostLenient bounds it: a change takes a subscription, which may stall as well, and still has to come before a bucket's budget is
// spent.
func (s *Settings) mostLenient() int64 { return min(second, s.MaxDelay/3) }

// limit is for how long a stall may last at a time.
func (l *leniency) limit(now Instant) int64 {
	extra := l.extra
	for since := int64(now - l.at); since >= halfLife && extra > 0; since -= halfLife {
		extra /= 2
	}
	return extra
}

// stalls notes that the producer that is read from stalls although it lives.
func (p *producer) stalls() {
	if !p.stall.on {
		p.stall = stall{on: true, since: p.stalledSince(), boundary: p.boundary}
	}
}

// look notes which producers that stalled have gone on. One that stalled for longer than could have been borne, be it heard or not,
// was as good as away: to bear the next would delay what comes after it, and spare no change. The
// next stall may be three times as long and pass as well: where a packet is lost again when it is sent again, TCP waits twice as
// long before it tries once more.
func (l *leniency) look(now Instant, producers []producer, s *Settings) {
	for n := range producers {
		p := &producers[n]
		switch lasts := int64(now - p.stall.since); {
		case !p.stall.on:
		case lasts > s.mostLenient():
			p.stall.on = false
		case p.up && p.boundary > p.stall.boundary:
			p.stall.on = false
			if wanted := min(3*lasts, s.mostLenient()); wanted > l.limit(now) {
				l.extra, l.at = wanted, now
			}
		}
	}
}

// forbears reports whether the producer that is read from is given more time: it lives, and its stall is one of those that
// pass.
func (i *Intake) forbears(now Instant) bool {
	p := &i.producers[i.data.producer]
	return p.up && p.heard && !p.silent(now) && now < i.forbearsUntil(now)
}

// Hurry says whether the consumer goes on without what does not come soon, as it does when its results are tentative: then no stall is
// borne while another replica can be read from. It chooses anew at once, and must not be called while a frame is taken.
func (i *Intake) Hurry(now Instant, hurried bool) {
	if i.hurried != hurried {
		i.hurried = hurried
		i.choose(now)
	}
}

// forbearsUntil is until when a stall of the producer that is read from may last. What came last may have been late already: that much
// of its bound the next has lost, too.
func (i *Intake) forbearsUntil(now Instant) Instant {
	since := i.producers[i.data.producer].stalledSince()
	if i.hurried {
		return since
	}
	return since.Add(max(0, i.lenient.limit(now)-i.data.delay))
}

// stalledSince is since when the producer has not moved, or has been behind another one, whatever is longer.
func (p *producer) stalledSince() Instant {
	since := p.movedAt.Add(p.ahead)
	if p.chased != tuple.MinTime {
		since = min(since, p.behindAt)
	}
	return since
}
