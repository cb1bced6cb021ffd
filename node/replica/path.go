package replica

import (
	"slices"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// path is a set of SUnions that share operators, and the outputs downstream of them: what fails and recovers together.
type path struct {
	n       int
	unions  []*union
	outputs []int
	state   dcaa.State
	wait    *dcaa.Wait
	// fork goes on tentatively while SUnions of the path are affected; nil otherwise.
	fork *query.Fork
	// undone: the fork has been dropped before the redo; its run stands until the stable side has passed it, or there is a fork
	// again.
	undone bool
	// again: there has been a new fork since. It goes on behind what its run had given, and without that.
	again bool
	// renewed: the fork has taken the place of another one, and goes on behind what its run had given. While replaying it is being
	// fed what that one had been.
	renewed, replaying bool
	// broken: the fork ran into a limit; there is none until the stable side has passed brokenAt, up to where it
	// went, and no input is tentative.
	broken   bool
	brokenAt tuple.Time
	cause    error // why the fork broke; told with the next change of state
	run      tuple.Run
	// missing are the inputs that the fork lacks, for frames and people.
	missing []tuple.Missing
	rows    uint64 // given tentatively in this failure
	// redone is when the redo last had a stable bucket.
	redone dcaa.Instant
	anew   anew
}

// findPaths joins SUnions that reach a common output or operator.
func (r *Replica) findPaths() {
	of := make([]*path, len(r.cfg.Plan.Outputs))
	for n, u := range r.unions {
		mine := &path{unions: []*union{u}, state: dcaa.Starting, anew: settled(false)}
		for _, o := range r.cfg.Plan.Unions[n].Outputs {
			if other := of[o]; other != nil && other != mine {
				other.unions = append(other.unions, mine.unions...)
				other.outputs = append(other.outputs, mine.outputs...)
				for _, moved := range mine.outputs {
					of[moved] = other
				}
				mine = other
			} else if other == nil {
				mine.outputs = append(mine.outputs, o)
				of[o] = mine
			}
		}
		for _, v := range mine.unions {
			v.path = mine
		}
	}
	for _, u := range r.unions {
		if u.path.unions[0] == u {
			u.path.n = len(r.paths)
			r.paths = append(r.paths, u.path)
		}
	}
	for _, p := range r.paths {
		inputs := 0
		for _, u := range p.unions {
			u.first = inputs
			inputs += len(r.cfg.Plan.Unions[u.n].Inputs)
		}
		p.wait = dcaa.NewWait(&r.cfg.Settings, inputs)
		for _, u := range p.unions {
			for k, in := range r.cfg.Plan.Unions[u.n].Inputs {
				if r.cfg.Inputs[in].Outside {
					p.wait.Outside(u.first+k, u.place)
				}
			}
		}
	}
}

// tentativeOut takes the results of a fork.
type tentativeOut struct {
	r *Replica
	p *path
}

// Batch numbers a borrowed batch within the run and emits it.
func (o tentativeOut) Batch(n int, b *tuple.Batch) error {
	switch {
	case o.p.replaying:
		b = o.r.numbers[n].Unsaid(b)
	case o.p.again || o.p.renewed:
		b = o.r.numbers[n].Beyond(b)
	}
	if f := o.r.numbers[n].Tentative(b, o.p.missing); f != nil {
		o.p.rows += uint64(b.Rows())
		o.r.shell.Emit(n, f)
	}
	return nil
}

// Boundary passes on how far the run is complete.
func (o tentativeOut) Boundary(n int, t tuple.Time) error {
	if f := o.r.numbers[n].TentativeBoundary(t, o.r.ageOf(n, t), o.p.missing); f != nil {
		f.Normal = o.r.normalOf(n)
		o.r.shell.Emit(n, f)
	}
	return nil
}

// affect lets the path go on tentatively where an SUnion lacks input of the buckets up to end.
func (r *Replica) affect(u *union, end tuple.Time) {
	p := u.path
	redoing := p.fork != nil && p.state == dcaa.Stabilization
	mask := make([]bool, len(r.unions))
	mask[u.n] = true
	u.affected, u.base = true, u.su.Released()
	u.su.Fork()
	if p.fork != nil {
		p.fork.Extend(mask)
	} else {
		p.fork = r.inst.ForkAffected(mask, tentativeOut{r, p})
		r.runs++
		p.run = tuple.Run{Producer: r.cfg.Name, Incarnation: r.cfg.Incarnation, N: r.runs}
		p.rows = 0
	}
	for _, o := range p.outputs {
		if _, open := r.numbers[o].Run(); !open && p.fork.AffectedOutput(o) {
			r.numbers[o].Open(p.run)
		}
	}
	p.missing = r.missing(p, end)
	if !redoing {
		r.change(p, dcaa.UpstreamFailure)
	}
}

// missing lists what the affected SUnions of a path lack of the buckets up to end: inputs that are not complete, and what
// their producers lack.
func (r *Replica) missing(p *path, end tuple.Time) []tuple.Missing {
	var list []tuple.Missing
	add := func(m tuple.Missing) {
		for k := range list {
			if list[k].Stream == m.Stream {
				list[k].Since = min(list[k].Since, m.Since)
				return
			}
		}
		const most = 64
		if len(list) < most {
			list = append(list, m)
		}
	}
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		for k, in := range r.cfg.Plan.Unions[u.n].Inputs {
			i := r.inputs[in]
			if _, _, missing, held := i.intake.Suffix(); held && len(missing) > 0 {
				for _, m := range missing {
					add(m)
				}
			} else if u.su.InputReached(k) < end || i.intake.Borrowed() {
				add(tuple.Missing{Stream: i.stream, Since: u.su.InputBoundary(k)})
			}
		}
	}
	return list
}

// finish drops the fork: the stable side has passed it.
func (r *Replica) finish(p *path, undo bool) {
	for _, o := range p.outputs {
		if _, open := r.numbers[o].Run(); !open {
			continue
		}
		if undo {
			r.shell.Emit(o, r.numbers[o].Undo())
		} else {
			r.shell.Emit(o, r.numbers[o].Finish())
		}
	}
	if p.fork != nil {
		p.fork.Drop()
	}
	p.fork, p.undone, p.again, p.renewed, p.missing, p.anew.told = nil, false, false, false, nil, false
	for _, u := range p.unions {
		if u.affected {
			u.affected = false
			u.su.Unfork()
		}
	}
}

// change changes the state of a path. Only Advance does: what is read may be left for it, and a frame of that must not be in the
// middle of being taken.
func (r *Replica) change(p *path, to dcaa.State) {
	if p.state == to && p.cause == nil {
		return
	}
	c := Change{From: p.state, To: to, Outputs: p.outputs, Missing: p.missing, Tentative: p.rows, Lost: p.anew.lost, Cause: p.cause}
	p.state, p.cause = to, nil
	r.shell.Changed(c)
	r.hurry(p)
}

// hurry tells the inputs of a path whether it waits for them: results that are not stable go on without what comes late.
func (r *Replica) hurry(p *path) {
	for _, u := range p.unions {
		for _, n := range r.cfg.Plan.Unions[u.n].Inputs {
			in := r.inputs[n]
			in.intake.Hurry(r.now, slices.ContainsFunc(in.feeds, func(f feed) bool {
				s := r.unions[f.union].path.state
				return s == dcaa.UpstreamFailure || s == dcaa.Stabilization
			}))
		}
	}
}
