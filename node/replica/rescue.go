package replica

import (
	"slices"

	"fednode/dcaa"
)

// transferAgain is how long a state transfer may take before another replica is asked, in microseconds.
const transferAgain = 10_000_000

// emptyFor is for how long a replica is not asked again that had nothing to give, in microseconds.
const emptyFor = 2_000_000

// rescue finds a way on for an input that no producer can serve any more: the state of another replica, and only if there
// is none to be had, a GAP. If all replicas lack the same rows, the first of them by name goes on behind the GAP, and the
// others take over its state: if each went on by itself they would part for ever, each in generations of its own. Who is away
// and may help, another replica or a producer, is waited for as long as Settings.AbandonAfter says.
func (r *Replica) rescue(in *input) {
	t, can := r.shell.(Transferer)
	if !can || len(r.peers) == 0 || r.bestEffort() && (in.seamless() || !r.lasts()) {
		r.abandon(in, in.intake.AbandonAt())
		return
	}
	if up := r.nextUp(); up >= 0 {
		if r.now >= r.transferAt {
			r.transferAt = r.now.Add(transferAgain)
			r.asked = up
			t.Transfer(up)
		}
		r.due = min(r.due, r.transferAt)
		return
	}
	switch leads, all := r.standing(); {
	case leads && all:
		r.abandon(in, in.intake.AbandonAt())
	case leads:
		r.abandon(in, max(in.intake.AbandonAt(), r.awaitedUntil(in.intake.LostSince())))
	}
	for k := range r.peers {
		if at := r.peers[k].emptyUntil; at > r.now {
			r.due = min(r.due, at)
		}
	}
}

// lasts reports whether another replica makes stable results in the generations that this one is in: it has lost nothing since, and
// may have a state to give.
func (r *Replica) lasts() bool {
	return slices.ContainsFunc(r.peers, func(p peer) bool {
		for o, s := range p.status {
			if !p.up || s.State != dcaa.Stable || s.Generation != r.numbers[o].State().Generation {
				return false
			}
		}
		return p.up
	})
}

// awaitedUntil is until when replicas that are away are waited for, since one may have a state that covers what is lost since then.
// One that comes and goes and has none puts off what the others are waited for by nothing, several that do so in turn by as much again.
func (r *Replica) awaitedUntil(since dcaa.Instant) dcaa.Instant {
	until := r.cfg.Settings.AwaitedUntil(since, 0)
	for k := range r.peers {
		if p := &r.peers[k]; !p.up {
			until = max(until, r.cfg.Settings.AwaitedUntil(since, p.downAt))
		}
	}
	return until
}

// abandon gives up what no producer holds, once the time has come.
func (r *Replica) abandon(in *input, at dcaa.Instant) {
	if r.now < at {
		r.due = min(r.due, at)
		return
	}
	in.intake.Skip(r.now, "no replica holds these rows any more, and none has a state that covers them")
}

// nextUp returns a peer that can be reached and may have a state to give, the one after the last that was asked; -1 if
// there is none.
func (r *Replica) nextUp() int {
	for k := range r.peers {
		n := (r.asked + 1 + k) % len(r.peers)
		if r.peers[n].up && r.now >= r.peers[n].emptyUntil {
			return n
		}
	}
	return -1
}

// standing says whether this replica is the first by name of those that can be reached, and whether these are all.
func (r *Replica) standing() (leads, all bool) {
	leads, all = true, true
	for _, p := range r.peers {
		all = all && p.up
		leads = leads && !(p.up && p.name < r.cfg.Name)
	}
	return leads, all
}

// Declined says that a peer that Transfer has asked gives no state: the next one is asked.
func (r *Replica) Declined(now dcaa.Instant, peer int) {
	r.now = now
	r.peers[peer].emptyUntil = now.Add(emptyFor)
	r.transferAt = now
}

// lost is the state of rescue.
type lost struct {
	transferAt dcaa.Instant // not asked again before
	asked      int          // the last peer that was asked
}
