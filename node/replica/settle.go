package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// settle brings the states of paths without a fork up to date, and gives permission back when nothing is redone.
func (r *Replica) settle() {
	wanted := false
	for _, p := range r.paths {
		if p.fork != nil || p.anew.lost {
			wanted = wanted || p.state == dcaa.Stabilization || !p.anew.lost && r.waits(p)
			continue
		}
		// Permission is passed on when all has been caught up with, not when the fork is dropped.
		wanted = wanted || p.state == dcaa.Stabilization && r.permission.Granted() && !r.exhausted(p)
		p.broken = p.broken && (r.lowest(p) < p.brokenAt || r.suffixed(p))
		switch {
		case p.broken:
		case !r.begun(p):
			if p.state != dcaa.Starting {
				r.change(p, dcaa.Stabilization)
			}
		case !r.current(p):
			if p.state == dcaa.Stabilization || r.recovering {
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

// current reports whether a path without a fork has caught up with its inputs.
func (r *Replica) current(p *path) bool {
	return r.caughtUp(p.unions, func(*dcaa.Intake) bool { return false })
}

// exhausted reports whether it has caught up with those inputs that can be had: one that has failed again may take for ever.
func (r *Replica) exhausted(p *path) bool {
	return r.caughtUp(p.unions, func(i *dcaa.Intake) bool { return i.Condition(r.now) == dcaa.Failed })
}

// delivers reports whether an output has all that its own inputs have given.
func (r *Replica) delivers(output int) bool {
	var unions []*union
	for _, n := range r.cfg.Plan.Outputs[output].Unions {
		unions = append(unions, r.unions[n])
	}
	return r.caughtUp(unions, func(*dcaa.Intake) bool { return false })
}

func (r *Replica) caughtUp(unions []*union, excused func(*dcaa.Intake) bool) bool {
	for _, u := range unions {
		if u.su.Stable() > u.su.Released() {
			return false
		}
		for _, in := range r.cfg.Plan.Unions[u.n].Inputs {
			if i := r.inputs[in].intake; !i.Current() && !excused(i) {
				return false
			}
		}
	}
	return true
}

func (r *Replica) allCurrent() bool {
	for _, p := range r.paths {
		if p.fork != nil || !r.begun(p) || !r.current(p) {
			return false
		}
	}
	return true
}
