package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// Advance lets go what may go: stable buckets, tentative ones whose hold time is spent, and a slice of a redo. The shell
// calls it when it has handed in all events there are. busy says that more could be done at once; then the shell takes in
// new events first and calls it again. An error is one of the operators and ends the fragment.
func (r *Replica) Advance(now dcaa.Instant) (busy bool, err error) {
	r.now, r.due = now, dcaa.Never
	for _, in := range r.inputs {
		in.intake.Tick(now)
		if _, lost := in.intake.Lost(); lost {
			r.rescue(in)
		}
		r.due = min(r.due, in.intake.Due(now))
	}
	if !r.blocked {
		for _, p := range r.paths {
			more, err := r.advance(p)
			if err != nil {
				return false, err
			}
			busy = busy || more
		}
	}
	r.settle()
	return busy, nil
}

// Due is when Advance has something to do if nothing happens before.
func (r *Replica) Due() dcaa.Instant {
	if at, ok := r.permission.Due(); ok {
		return min(r.due, at)
	}
	return r.due
}

// advance lets go what may go on one path. New tuples come first: what is due tentatively goes before the redo.
func (r *Replica) advance(p *path) (busy bool, err error) {
	for _, u := range p.unions {
		if u.affected {
			continue
		}
		more, err := r.release(u)
		if err != nil {
			return false, err
		}
		busy = busy || more
	}
	for _, u := range p.unions {
		if err := r.tentative(u); err != nil {
			return false, err
		}
	}
	if p.fork == nil {
		return busy, nil
	}
	more, err := r.redo(p)
	return busy || more, err
}

// release gives the stable instance what is complete, at most a slice.
func (r *Replica) release(u *union) (more bool, err error) {
	stable := u.su.Stable()
	if stable <= u.su.Released() {
		return false, nil
	}
	to := u.su.Step(r.cfg.SliceRows)
	if len(u.gaps) > 0 {
		to = min(to, u.gaps[0].at)
	}
	if to <= u.su.Released() {
		return false, nil
	}
	u.age, u.agedTo = u.path.wait.Age(to, r.now), to
	if err := u.su.Release(to, func(b *tuple.Batch) error {
		u.ahead += b.Rows()
		return r.inst.Process(u.n, b)
	}); err != nil {
		return false, err
	}
	if err := r.inst.Boundary(u.n, to); err != nil {
		return false, err
	}
	r.tellGaps(u)
	r.progress++
	u.path.redone = r.now
	r.level(u.path)
	return to < stable, nil
}

// level notes how far the SUnions of a path are apart, and forgets the clocks of buckets that all have let go.
func (r *Replica) level(p *path) {
	low := r.lowest(p)
	p.wait.Passed(low)
	for _, u := range p.unions {
		if u.su.Released() == low {
			u.ahead = 0
		}
	}
}

// tentative decides about the oldest buckets that are not complete, or not yet redone.
func (r *Replica) tentative(u *union) error {
	u.held, u.due = 0, dcaa.Never
	for {
		after := u.su.Released()
		if u.affected {
			after = max(after, u.su.Forked())
		}
		k, ok := u.path.wait.Next(after, u.place)
		if !ok {
			return nil
		}
		until := r.until(u, k)
		if until > r.now {
			u.due = until
			r.due = min(r.due, until)
			if late := int64(r.now - k.From); late > r.cfg.Settings.Grace {
				u.held = late
			}
			return nil
		}
		if !u.affected {
			r.affect(u, k.End)
		}
		if err := r.releaseTentative(u, k.End); err != nil {
			return err
		}
	}
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
	if complete && p.state == dcaa.Stabilization && u.su.Step(r.cfg.SliceRows) >= k.End {
		return dcaa.Never // the redo is about to pass it
	}
	s := dcaa.Situation{First: !u.affected, Known: k, Policy: r.policy(p)}
	if complete {
		return r.cfg.Settings.Deadline(u.place, s, []dcaa.Missing{{Condition: dcaa.Failed}})
	}
	lacks, stableNear := r.lacks(u, k.End)
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
		case u.su.InputReached(k) >= end:
			stableNear = stableNear || i.intake.StableReachable(r.now)
		default:
			m := dcaa.Missing{Condition: i.intake.Condition(r.now), Moving: r.cfg.Inputs[in].Source}
			if m.Condition == dcaa.Waiting {
				r.due = min(r.due, i.intake.WaitsUntil())
			}
			list = append(list, m)
		}
	}
	return list, stableNear
}

// releaseTentative gives the fork what there is of the buckets before to.
func (r *Replica) releaseTentative(u *union, to tuple.Time) error {
	p := u.path
	p.missing = r.missing(p, to)
	u.age, u.agedTo = u.path.wait.Age(to, r.now), to
	err := u.su.ReleaseTentative(to, func(b *tuple.Batch) error { return p.fork.Process(u.n, b) })
	if err == nil {
		err = p.fork.Boundary(u.n, to)
	}
	r.level(p)
	if err != nil {
		// The fork is spent: what it gave is void, and the path waits for the redo.
		p.broken, p.brokenAt = true, r.forked(p)
		r.finish(p, true)
		r.change(p, dcaa.Stabilization)
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

// served reports whether another replica gives current results, so that this one may spend all it has on the redo.
func (r *Replica) served(p *path) bool {
	for _, other := range r.peers {
		if other.up && other.serves {
			return true
		}
	}
	return false
}

// redo feeds the stable instance what has become complete, with permission, and ends the failure when the stable side
// has passed the fork.
func (r *Replica) redo(p *path) (busy bool, err error) {
	missed := uint64(0)
	crowded := false
	for _, u := range p.unions {
		if u.affected && u.su.Stable() > u.su.Released() {
			missed += r.buckets(u)
			crowded = crowded || r.crowded(u)
		}
	}
	if missed == 0 {
		r.stall(p)
		return false, nil
	}
	r.permission.Want(r.now, missed)
	if !r.permission.Granted() && !crowded {
		return false, nil
	}
	if p.state != dcaa.Stabilization {
		p.redone = r.now
		r.change(p, dcaa.Stabilization)
	}
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		// What the stable side passes here the fork has not seen, and it goes on for the others.
		if to := u.su.Step(r.cfg.SliceRows); to > u.su.Forked() && !r.passes(p) {
			if err := r.releaseTentative(u, to); err != nil || p.fork == nil {
				return true, err
			}
		}
		more, err := r.release(u)
		if err != nil {
			return false, err
		}
		busy = busy || more
	}
	if r.passed(p) {
		r.finish(p, false)
		busy = true
	}
	return busy, nil
}

// buckets counts how many buckets of an SUnion wait for the redo.
func (r *Replica) buckets(u *union) uint64 {
	from, to := u.su.Released(), min(u.su.Stable(), max(u.su.Forked(), u.su.Released()))
	if from == tuple.MinTime || to <= from {
		return 1
	}
	return 1 + uint64(to-from)/uint64(r.cfg.Plan.Bucket)
}

// crowded reports whether an SUnion holds so much that its inputs would have to stop.
func (r *Replica) crowded(u *union) bool {
	for k := range r.cfg.Plan.Unions[u.n].Inputs {
		if u.su.Waiting(k) > r.cfg.WaitingRows/2 {
			return true
		}
	}
	return false
}

// passes reports whether one more slice brings the stable side past the fork everywhere.
func (r *Replica) passes(p *path) bool {
	for _, u := range p.unions {
		if u.affected && u.su.Released() < u.su.Forked() && u.su.Step(r.cfg.SliceRows) < u.su.Forked() {
			return false
		}
	}
	return true
}

// passed reports whether the stable side has passed the fork everywhere.
func (r *Replica) passed(p *path) bool {
	for _, u := range p.unions {
		if u.affected && u.su.Released() < u.su.Forked() {
			return false
		}
	}
	return true
}

// stall gives up a redo that gets no further while what it lacks is neither alive nor being corrected.
func (r *Replica) stall(p *path) {
	if p.state == dcaa.Stabilization && r.stalled(p) {
		r.change(p, dcaa.UpstreamFailure)
	}
}

// stalled reports whether a path has let no stable bucket go for the stall limit, and lacks an input that is neither alive
// nor being corrected.
func (r *Replica) stalled(p *path) bool {
	if at := p.redone.Add(4 * max(r.cfg.Settings.BoundaryInterval, r.cfg.Settings.Bucket)); r.now < at {
		r.due = min(r.due, at)
		return false
	}
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		for k, in := range r.cfg.Plan.Unions[u.n].Inputs {
			if u.su.InputBoundary(k).FloorTo(r.cfg.Plan.Bucket, 0) <= u.su.Released() && !r.inputs[in].intake.Lives(r.now) {
				return true
			}
		}
	}
	return false
}

// settle brings the states of paths without a fork up to date, and gives permission back when nothing is redone.
func (r *Replica) settle() {
	wanted := false
	for _, p := range r.paths {
		if p.fork != nil {
			wanted = wanted || p.state == dcaa.Stabilization || r.waits(p)
			continue
		}
		// Permission is passed on when all has been caught up with, not when the fork is dropped.
		wanted = wanted || p.state == dcaa.Stabilization && r.permission.Granted() && !r.caughtUp(p)
		p.broken = p.broken && (r.lowest(p) < p.brokenAt || r.suffixed(p))
		switch {
		case p.broken:
		case !r.begun(p):
			if p.state != dcaa.Starting {
				r.change(p, dcaa.Stabilization)
			}
		case !r.caughtUp(p):
			if p.state == dcaa.Stabilization || r.recovering || p.state == dcaa.Starting && r.recovering {
				r.change(p, dcaa.Stabilization)
			}
		default:
			r.change(p, dcaa.Stable)
		}
	}
	if !wanted {
		r.permission.Release(r.now)
	}
	r.permission.Tick(r.now)
	for _, m := range r.permission.TakeMessages() {
		r.shell.Tell(m.To, m.Message)
	}
	if r.recovering {
		r.recovering = !r.allCurrent()
	}
}

// waits reports whether stable buckets wait for permission.
func (r *Replica) waits(p *path) bool {
	for _, u := range p.unions {
		if u.affected && u.su.Stable() > u.su.Released() {
			return true
		}
	}
	return false
}

// begun reports whether every SUnion of a path has let a bucket go.
func (r *Replica) begun(p *path) bool {
	for _, u := range p.unions {
		if u.su.Released() == tuple.MinTime {
			return false
		}
	}
	return true
}

// caughtUp reports whether a path without a fork has caught up with its inputs: after a restart with all of them, else with
// those that can be had. One that has failed is missed again, and held for, like any.
func (r *Replica) caughtUp(p *path) bool {
	for _, u := range p.unions {
		if u.su.Stable() > u.su.Released() {
			return false
		}
		for _, in := range r.cfg.Plan.Unions[u.n].Inputs {
			i := r.inputs[in].intake
			if !i.Current() && (r.recovering || i.Condition(r.now) != dcaa.Failed) {
				return false
			}
		}
	}
	return true
}

func (r *Replica) allCurrent() bool {
	for _, p := range r.paths {
		if p.fork != nil || !r.begun(p) || !r.caughtUp(p) {
			return false
		}
	}
	return true
}
