package dcaa

import "fednode/query/tuple"

// Lost reports that no reachable producer holds what is needed next, and the place at which one could go on.
func (i *Intake) Lost() (first tuple.Position, lost bool) {
	n := i.place()
	if n < 0 {
		return tuple.Position{}, false
	}
	return i.producers[n].oldest, true
}

// AbandonAt is when rows that are lost may be given up: at once if every producer can be reached and stands where a consumer
// can follow, and else when that has not been so for Settings.AbandonAfter, for one that is away may hold them, and one that
// is in an older generation may be on its way to ours. Who comes and goes and lacks them each time does not put that off, nor do
// two that do so in turn (see AwaitedUntil). Never if nothing is lost. Best effort waits for nobody (see forbearance), and puts
// off by that no longer than others wait.
func (i *Intake) AbandonAt() Instant {
	if i.lostSince == Never {
		return Never
	}
	if i.cfg.Settings.Consistency == BestEffort {
		return min(i.lostSince.Add(i.forbearance()), i.missed.since.Add(i.cfg.Settings.AbandonAfter))
	}
	at := i.lostSince
	for n := range i.producers {
		if p := &i.producers[n]; !p.up {
			at = max(at, i.cfg.Settings.AwaitedUntil(i.lostSince, p.downAt))
		} else if p.oldest.Generation < i.pos.Generation {
			at = max(at, i.lostSince.Add(i.cfg.Settings.AbandonAfter))
		}
	}
	return at
}

// AwaitedUntil is until when somebody who is away since downAt is waited for, since he may have what is lost since lostSince. Who has
// gone later is waited for anew, but for no longer than as much again: of several that come and go in turn one would else always
// have just gone.
func (s *Settings) AwaitedUntil(lostSince, downAt Instant) Instant {
	return min(max(lostSince, downAt), lostSince.Add(s.AbandonAfter)).Add(s.AbandonAfter)
}

// LostSince is since when what comes next is lost, however often a producer has been asked anew meanwhile; Never if nothing is.
func (i *Intake) LostSince() Instant { return i.lostSince }

// forbearance is how long a best-effort consumer puts a GAP off: while the tentative rows that it reads have yet to come up to
// the end of it, for nothing else will bring them; and longer before it goes back to an older generation.
func (i *Intake) forbearance() int64 {
	n := i.place()
	if n < 0 {
		return 0
	}
	switch p := &i.producers[n]; {
	case p.oldest.Generation < i.pos.Generation:
		return i.cfg.Settings.MaxDelay / 2
	case i.q.held && i.q.boundary < p.oldest.Time && i.data != nil && i.data.producer != n && i.data.id == i.q.conn:
		return i.cfg.Settings.MaxDelay / 4
	}
	return 0
}

// Skip gives up what no producer holds: the consumer goes on behind it, and the taker learns of the gap. The caller decides
// when: not before AbandonAt, if it wants all that can be had.
func (i *Intake) Skip(now Instant, reason string) {
	n := i.place()
	if n < 0 {
		return
	}
	f := i.producers[n].gap
	if f == nil {
		first := i.producers[n].oldest
		f = &tuple.Frame{Kind: tuple.Gap, Time: i.pos.Time, To: max(i.pos.Time, first.Time), Generation: first.Generation, FirstID: first.ID, Reason: reason}
	}
	i.pass(f)
	i.skipped = givenUp{at: i.pos, since: i.lostSince}
	for _, c := range []**conn{&i.data, &i.next, &i.correct} {
		if *c != nil && i.cfg.Settings.Consistency == BestEffort {
			i.close(c) // it was asked for what has been left
		}
	}
	for n := range i.producers {
		i.producers[n].found() // but a producer whose place is gone again and again is not asked without pause
	}
	i.choose(now)
}

// Continues reports whether a producer that does not hold what comes next here holds what comes behind another place.
func (i *Intake) Continues(at tuple.Position) bool {
	for n := range i.producers {
		if p := &i.producers[n]; p.up && p.lost && reaches(at, p.oldest) {
			return true
		}
	}
	return false
}

// place returns the producer that a consumer goes on with which gives rows up, -1 if one may still hold them and is waited for,
// or none can be reached.
func (i *Intake) place() int {
	best := -1
	for n := range i.producers {
		p := &i.producers[n]
		switch {
		case !p.up:
		case p.idles:
		case !p.lost:
			return -1
		case best < 0 || i.nearer(p.oldest, i.producers[best].oldest):
			best = n
		}
	}
	return best
}

// nearer reports whether a is the better place to go on. The oldest from ours on comes first: in it others go on too. Only
// if all lie behind, the newest.
func (i *Intake) nearer(a, b tuple.Position) bool {
	if back := a.Generation < i.pos.Generation; back != (b.Generation < i.pos.Generation) {
		return !back
	} else if back {
		return a.Compare(b) > 0
	}
	return a.Compare(b) < 0
}

// givenUp is a place of a consumer, and since when what comes next was lost there.
type givenUp struct {
	at    tuple.Position
	since Instant
}

// noteLost keeps since when rows are lost. If what lies behind the place where rows were given up is gone as well before any of it
// has come, the wait is still the same one: nobody holds a place for who is not counted, so it would begin anew for ever.
// So it is if a producer that has come back is asked anew, and lacks them still.
func (i *Intake) noteLost(now Instant) {
	if i.place() < 0 {
		i.lostSince = Never
		return
	}
	if i.lostSince = min(i.lostSince, now); i.pos != i.missed.at {
		i.missed = givenUp{at: i.pos, since: i.lostSince}
	} else if i.cfg.Settings.Consistency != BestEffort {
		i.lostSince = min(i.lostSince, i.missed.since)
	}
	if i.pos == i.skipped.at {
		i.lostSince = min(i.lostSince, i.skipped.since)
	}
}

// kin reports whether a producer is in the consumer's generation and of use: others can go on only behind a GAP, once they
// have given what they hold of it. For best effort one that makes no stable results is of no such use: what it makes tentative
// stays so, and it ends in another generation itself.
func (i *Intake) kin(now Instant, n int) bool {
	p, least := &i.producers[n], starting
	if i.cfg.Settings.Consistency == BestEffort {
		least = stable
	}
	return i.pos.Generation != 0 && p.heard && p.status.Generation == i.pos.Generation && i.rank(now, n) >= least
}

// noteIdle notes who makes no stable results. Best effort does not wait for what they may hold.
func (i *Intake) noteIdle(now Instant) {
	if i.cfg.Settings.Consistency != BestEffort {
		return
	}
	for n := range i.producers {
		r := i.rank(now, n)
		i.producers[n].idles = r != stable && r != starting && r != unknown
	}
}

// older reports whether a producer is in an older generation than another.
func (i *Intake) older(a, b int) bool {
	p, q := &i.producers[a], &i.producers[b]
	return p.heard && q.heard && p.status.Generation < q.status.Generation
}
