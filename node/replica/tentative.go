package replica

import (
	"fednode/dcaa"
	"fednode/query"
	"fednode/query/op"
	"fednode/query/tuple"
)

// mostBuckets and forkRows are how many buckets, be they empty, and about how many rows one Advance gives a fork at most: a
// replica that begins to serve minutes late, since the one that served has died, hears of its peers and inputs in between.
// Slices of a redo may be smaller, for new tuples come first.
const (
	mostBuckets = 256
	forkRows    = 1 << 16
)

// tentative decides about the oldest buckets that are not complete, or not yet redone. more says that others are due, beyond
// the slice that goes at once.
func (r *Replica) tentative(u *union) (more bool) {
	u.held, u.due = 0, dcaa.Never
	rows := 0
	for n := 0; ; n++ {
		after := u.su.Released()
		if u.affected {
			after = max(after, u.su.Forked())
		}
		k, ok := u.path.wait.Next(after, u.place)
		if !ok {
			return false
		}
		until := r.until(u, k)
		if until > r.now {
			u.due = until
			r.due = min(r.due, until)
			if late := r.late(k); late > r.cfg.Settings.Grace {
				u.held = late
			}
			return false
		}
		if n == mostBuckets || rows >= forkRows {
			u.due, r.due = r.now, r.now
			return true
		}
		if u.path.undone {
			r.forkAgain(u.path)
		}
		if !u.affected {
			r.affect(u, k.End)
		}
		rows += r.releaseTentative(u, k.End)
	}
}

// late is how long buckets have been overdue. That their clocks were put off when the replica stood still, or have begun to run
// only then since they had waited to be looked at, is no reason to tell others that it gives current results.
func (r *Replica) late(k dcaa.Known) int64 {
	late := int64(r.now - k.From)
	if r.stood > 0 && k.Came <= r.stoodUntil.Add(r.cfg.Settings.Heartbeat) {
		late += r.stood
	}
	return late
}

// until returns how long buckets are held before they go to the fork; an instant that has passed lets them go now.
func (r *Replica) until(u *union, k dcaa.Known) dcaa.Instant {
	p := u.path
	if p.broken || !r.tentatively() || u.affected && p.state == dcaa.Stabilization && r.served(p) {
		return dcaa.Never
	}
	complete := u.su.Stable() >= k.End
	if complete && !u.affected {
		return dcaa.Never // the rest of a slice
	}
	if complete && r.bestEffort() && p.state != dcaa.Stabilization {
		return r.now // nothing will replace it
	}
	if complete && p.state == dcaa.Stabilization && (r.permission.Granted() || r.crowded(u)) && r.slice(u) >= k.End {
		return dcaa.Never // the redo is about to pass it
	}
	s := dcaa.Situation{First: !u.affected, Known: k, Policy: r.policy(p)}
	lacks, stableNear := r.lacks(u, k.End)
	if p.undone {
		// It waits for its own redo, and who reads from it still for a little longer.
		return r.cfg.Settings.Deadline(u.place, s, append(lacks, dcaa.Missing{Condition: dcaa.Live, Redo: true}))
	}
	if complete {
		return r.cfg.Settings.Deadline(u.place, s, []dcaa.Missing{{Condition: dcaa.Failed}})
	}
	if r.bestEffort() && u.su.Stable().Add(r.cfg.Settings.MaxDelay) >= k.End {
		s.First = true // it may be complete in time: the path could never begin anew if its fork were always ahead
	}
	if len(lacks) > 0 {
		return r.cfg.Settings.Deadline(u.place, s, lacks)
	}
	if stableNear && !u.affected {
		// All is there tentatively, but a stable replica can be reached.
		return r.cfg.Settings.Deadline(u.place, s, []dcaa.Missing{{Condition: dcaa.Live}})
	}
	if s.Policy == dcaa.Suspend {
		return dcaa.Never
	}
	return r.now
}

func (r *Replica) policy(p *path) dcaa.Policy {
	if p.state == dcaa.Stabilization {
		return r.cfg.Settings.Stabilization
	}
	return r.cfg.Settings.Failure
}

// lacks lists the inputs that have neither a stable nor a tentative boundary at end. stableNear says that one of those
// that are complete only tentatively could be had from a stable replica.
func (r *Replica) lacks(u *union, end tuple.Time) (list []dcaa.Missing, stableNear bool) {
	for k, in := range r.cfg.Plan.Unions[u.n].Inputs {
		i := r.inputs[in]
		switch {
		case u.su.InputBoundary(k) >= end:
		case u.su.InputReached(k) >= end && i.intake.Borrowed():
			// It is not complete, and what it lacks may come with the state of another replica before the hold time is spent.
			list = append(list, dcaa.Missing{Condition: dcaa.Failed})
		case u.su.InputReached(k) >= end:
			stableNear = stableNear || i.intake.StableReachable(r.now)
		default:
			m := dcaa.Missing{Condition: i.intake.Condition(r.now), Idle: r.cfg.Inputs[in].Source || i.intake.Unproven()}
			if m.Condition != dcaa.Waiting && i.intake.Withheld() > 0 {
				m = dcaa.Missing{Condition: dcaa.Live} // it gives nothing, and yet has not failed: one above gives up first
			}
			if m.Condition == dcaa.Waiting {
				r.due = min(r.due, i.intake.WaitsUntil())
			}
			list = append(list, m)
		}
	}
	return list, stableNear
}

// releaseTentative gives the fork what there is of the buckets before to, and returns how many rows that were.
func (r *Replica) releaseTentative(u *union, to tuple.Time) (rows int) {
	p := u.path
	if m := r.missing(p, to); len(m) > 0 || !r.bestEffort() {
		p.missing = m // else what is lost is missing still
	}
	if u.su.Stable() < to {
		p.unsettle()
	}
	u.age, u.agedTo = u.path.wait.Age(to, u.place, r.now), to
	err := u.su.ReleaseTentative(to, func(b *tuple.Batch) error {
		rows += b.Rows()
		return p.fork.Process(u.n, b)
	})
	if err == nil {
		err = p.fork.Boundary(u.n, to)
	}
	if err == nil {
		err = r.affordable(p.fork)
	}
	r.level(p)
	if err != nil {
		// The fork is spent: what it gave is void, and the path waits for the redo.
		p.broken, p.brokenAt, p.cause = true, r.forked(p), err
		r.finish(p, true)
		r.change(p, dcaa.Stabilization)
	}
	return rows
}

// affordable fails when a fork holds more than the operators may. What it shares with the stable instance counts for both.
func (r *Replica) affordable(fork *query.Fork) error {
	if limit := r.cfg.StateBytes; limit > 0 && fork.StateBytes() > limit {
		return &op.LimitError{What: "state bytes of the tentative copy of fragment " + r.cfg.Plan.Name, Limit: limit}
	}
	return nil
}

// forked returns up to where a fork of a path has been given something.
func (r *Replica) forked(p *path) tuple.Time {
	far := tuple.MinTime
	for _, u := range p.unions {
		if u.affected {
			far = max(far, u.su.Forked())
		}
	}
	return far
}

// suffixed reports whether an input of a path holds tentative rows.
func (r *Replica) suffixed(p *path) bool {
	for _, u := range p.unions {
		for _, in := range r.cfg.Plan.Unions[u.n].Inputs {
			if _, _, _, held := r.inputs[in].intake.Suffix(); held {
				return true
			}
		}
	}
	return false
}
