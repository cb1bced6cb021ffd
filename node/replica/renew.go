package replica

import (
	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// renew lets the fork of a path begin anew at the stable instance, which corrections that stopped half way have brought further:
// what it makes from here on is nearer to the truth. It is given once more what the old one has had behind that, unless this is
// more than a slice, and goes on behind what its run has given. Each place of the stable side is looked at once.
func (r *Replica) renew(p *path) {
	if p.fork == nil || p.undone || p.state != dcaa.UpstreamFailure || r.replayRows() == 0 || !r.moved(p) || !r.repeatable(p) {
		return
	}
	mask := make([]bool, len(r.unions))
	for _, u := range p.unions {
		mask[u.n] = u.affected
	}
	fork := r.inst.ForkAffected(mask, tentativeOut{r, p})
	lacked := p.missing
	p.missing = r.missing(p, r.forked(p)) // it lacks no more than that
	p.replaying = true
	err := r.replay(p, fork)
	p.replaying = false
	if err != nil {
		p.missing = lacked // the old one goes on
	} else {
		p.fork, fork = fork, p.fork
		p.renewed = true
		r.renewals++
	}
	fork.Drop()
}

// replay gives a fork what the one before it has had of what the stable side has not.
func (r *Replica) replay(p *path, fork *query.Fork) error {
	var failed error
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		to := max(u.su.Forked(), u.su.Released())
		u.su.Rewind()
		err := u.su.ReleaseTentative(to, func(b *tuple.Batch) error { return fork.Process(u.n, b) })
		if err == nil {
			err = fork.Boundary(u.n, to)
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

// moved reports whether the stable side of a path stands further than when this was last asked, or its fork was made.
func (r *Replica) moved(p *path) (moved bool) {
	for _, u := range p.unions {
		if u.affected && u.su.Released() > u.base {
			u.base, moved = u.su.Released(), true
		}
	}
	return moved
}

// repeatable reports whether all is there that a new fork has to be given, and takes no longer than a slice.
func (r *Replica) repeatable(p *path) bool {
	sum := 0
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		rows, ok := u.su.Replay()
		if sum += rows; !ok || sum > r.replayRows() {
			return false
		}
	}
	return true
}

// replayRows is how many rows a new fork is given at most, 0 if there is none: best effort replaces nothing of what a fork has given.
func (r *Replica) replayRows() int {
	if !r.tentatively() || r.bestEffort() {
		return 0
	}
	return r.cfg.SliceRows
}

// Renewals is how often a fork has begun anew at a stable instance that had moved.
func (r *Replica) Renewals() uint64 { return r.renewals }
