package replica

import (
	"errors"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// renew lets the fork of a path begin anew at the stable instance, which corrections that stopped half way have brought further:
// what it makes from here on is nearer to the truth. It is given once more what the old one has had behind that, unless this is
// more than a slice, and goes on behind what its run has given. Each place of the stable side is looked at once.
func (r *Replica) renew(p *path) {
	if p.fork == nil || p.undone || p.state != dcaa.UpstreamFailure || r.replayRows() == 0 || !r.moved(p) {
		return
	}
	x := Renewal{Outputs: p.outputs}
	if x.Rows, x.Cause = r.repeatable(p); x.Cause == nil {
		x.Cause = r.forkAnew(p)
	}
	r.renewals.note(x.Cause)
	if s, ok := r.shell.(Renewing); ok {
		s.Renewed(x)
	}
}

// forkAnew puts another fork in the place of that of a path. If that one runs into a limit, the old one goes on.
func (r *Replica) forkAnew(p *path) error {
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
	if err == nil {
		err = r.affordable(fork)
	}
	if err != nil {
		p.missing = lacked
	} else {
		p.fork, fork = fork, p.fork
		p.renewed = true
	}
	fork.Drop()
	return err
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

// repeatable fails if not all is there that a new fork has to be given, or if that takes longer than a slice. It returns how many
// rows it is.
func (r *Replica) repeatable(p *path) (sum int, err error) {
	for _, u := range p.unions {
		if !u.affected {
			continue
		}
		rows, ok := u.su.Replay()
		if !ok {
			return 0, errForgotten
		}
		sum += rows
	}
	if sum > r.replayRows() {
		return sum, errLong
	}
	return sum, nil
}

// replayRows is how many rows a new fork is given at most, 0 if there is none: best effort replaces nothing of what a fork has given.
func (r *Replica) replayRows() int {
	if !r.tentatively() || r.bestEffort() {
		return 0
	}
	return r.cfg.SliceRows
}

// Reasons for which a fork is not begun anew.
var (
	errForgotten = errors.New("not all rows are kept that it would have to be given again")
	errLong      = errors.New("it would have to be given more rows again than go at once")
)

// Renewals counts what has come of it that corrections had stopped half way.
type Renewals struct {
	// Done is how often a fork has begun anew at the stable instance, which had moved.
	Done uint64
	// Long, Forgotten and Failed are how often it has gone on as it was: since it would have had to be given more rows again than a
	// slice, since some of them were not kept, and since the new one ran into a limit.
	Long, Forgotten, Failed uint64
}

func (n *Renewals) note(cause error) {
	switch {
	case cause == nil:
		n.Done++
	case errors.Is(cause, errLong):
		n.Long++
	case errors.Is(cause, errForgotten):
		n.Forgotten++
	default:
		n.Failed++
	}
}

// Renewals returns what has come of it so far.
func (r *Replica) Renewals() Renewals { return r.renewals }
