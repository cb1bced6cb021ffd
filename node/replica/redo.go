package replica

import (
	"slices"

	"fednode/dcaa"
	"fednode/query/tuple"
)

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
		r.renew(p)
		return false, nil
	}
	undoes := r.cfg.Settings.Redo == dcaa.RedoUndo && !p.again
	if undoes && !crowded && !r.replaceable(p) {
		return false, nil
	}
	r.permission.Want(r.now, missed)
	if !r.permission.Granted() && !crowded && !p.undone && !p.anew.told {
		return false, nil
	}
	// A part that is redone for want of room is no reason for readers to leave: the fork serves them as before.
	if p.state != dcaa.Stabilization && (r.permission.Granted() || p.undone) {
		p.redone = r.now
		r.change(p, dcaa.Stabilization)
	}
	if undoes {
		if r.undo(p); p.fork == nil {
			return true, nil
		}
	}
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		// What the stable side passes here the fork has not seen, and it goes on for the others.
		if to := r.slice(u); !undoes && to > u.su.Forked() && !r.passes(p) {
			if r.releaseTentative(u, to); p.fork == nil {
				return true, nil
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

// passes reports whether one more slice brings the stable side past the fork everywhere.
func (r *Replica) passes(p *path) bool {
	for _, u := range p.unions {
		if u.affected && u.su.Released() < u.su.Forked() && r.slice(u) < u.su.Forked() {
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

// served reports whether another replica gives current results of all outputs of a path, and nobody takes them here, so that
// this one may spend all it has on the redo.
func (r *Replica) served(p *path) bool {
	if s, knows := r.shell.(Relied); knows && slices.ContainsFunc(p.outputs, s.Relied) {
		return false
	}
	return slices.ContainsFunc(r.peers, func(other peer) bool {
		lacks := func(output int) bool { return !other.serves[output] }
		return other.up && !slices.ContainsFunc(p.outputs, lacks)
	})
}
