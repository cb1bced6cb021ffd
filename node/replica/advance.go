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
	r.weigh()
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
	r.weigh()
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
		busy = r.tentative(u) || busy
	}
	more := false
	r.rejoin(p)
	switch {
	case r.converges(p):
		more, err = r.converge(p)
	case p.fork != nil:
		more, err = r.redo(p)
	}
	return busy || more, err
}

// release gives the stable instance what is complete, at most a slice.
func (r *Replica) release(u *union) (more bool, err error) {
	stable := u.su.Stable()
	if stable <= u.su.Released() {
		return false, nil
	}
	to := r.slice(u)
	if to <= u.su.Released() {
		return false, nil
	}
	r.tellGaps(u, u.su.Released())
	u.age, u.agedTo = u.path.wait.Age(to, u.place, r.now), to
	if err := u.su.Release(to, func(b *tuple.Batch) error {
		u.ahead += b.Rows()
		return r.inst.Process(u.n, b)
	}); err != nil {
		return false, err
	}
	if err := r.inst.Boundary(u.n, to); err != nil {
		return false, err
	}
	r.tellGaps(u, u.su.Released())
	r.progress++
	if u.affected {
		u.path.redone = r.now // what is not affected goes on all the while, and redoes nothing
	}
	r.level(u.path)
	return to < stable, nil
}

// slice returns up to where release lets go at once: the place of a gap is not passed before it has been told.
func (r *Replica) slice(u *union) tuple.Time {
	to := u.su.Step(r.cfg.SliceRows)
	if a := &u.path.anew; a.to != tuple.MinTime {
		to = min(to, max(a.to, u.su.Released())) // nobody goes on before all outputs have been told
	}
	for _, g := range u.gaps {
		if g.at > u.su.Released() {
			return min(to, g.at)
		}
	}
	return to
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
