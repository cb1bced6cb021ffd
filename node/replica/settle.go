package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

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
