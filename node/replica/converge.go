package replica

import (
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// agreeTime is how much later than need be a path begins anew if there are other replicas, in microseconds: long enough for each
// to hear from the others where they mean to begin, so that all begin at one place and in one generation.
const agreeTime = 500_000

// anew is how a path of a best-effort query goes on behind a failure. Its stable side passes over what the fork has given, is fed
// again from some bucket on, and stays silent until what it makes depends on nothing before that.
type anew struct {
	// lost: rows have been passed over, and the outputs that depend on them are silent.
	lost bool
	// need is up to where rows may be lost for good.
	need tuple.Time
	// from is where the stable side is fed again, and to where its results count again; MinTime while that is not decided.
	from, to tuple.Time
	// own is to as this replica has decided it: others put it off by no more than so much (see agree).
	own tuple.Time
	// whole is since when the input has been complete again up to where the fork has got; 0 while it is not.
	whole dcaa.Instant
	// passed: the stable side stands where it is fed again.
	passed bool
	// told: the outputs have been told, and the stable side has yet to pass the fork.
	told   bool
	reason string
}

// silence is that of one output.
type silence struct {
	on   bool
	told tuple.Time // up to where the stable side has promised the results that are kept back
	// begins is where the present generation begins in the input; 0 if it did not begin anew.
	begins tuple.Time
}

// bestEffort reports whether results that have been tentative stay so.
func (r *Replica) bestEffort() bool { return r.cfg.Settings.Consistency == dcaa.BestEffort }

// converges reports whether a path begins anew instead of redoing what it missed. While another replica makes stable results in
// our generation readers are with that one, and this one follows.
func (r *Replica) converges(p *path) bool {
	if !r.bestEffort() {
		return false
	}
	return p.anew.lost || p.fork != nil && !p.anew.told && !slices.ContainsFunc(r.peers, func(other peer) bool { return r.continues(p, &other) })
}

// continues reports whether another replica makes stable results of a path's tentative outputs in our generations.
func (r *Replica) continues(p *path, other *peer) bool {
	for _, o := range p.outputs {
		if !p.fork.AffectedOutput(o) {
			continue
		}
		s, ours := &other.status[o], r.numbers[o].State()
		if !other.up || s.State != dcaa.Stable || s.Generation != ours.Generation || s.Boundary < ours.Boundary {
			return false
		}
	}
	return true
}

// mostBeyond is how far rows that a producer has lost may lie behind the first boundary that it gives after them, in microseconds,
// beside what its sources may be out of order.
const mostBeyond = 60_000_000

// lose notes that an input of an SUnion lacks rows before an stime for good: the path begins anew behind it.
func (r *Replica) lose(u *union, input int, before tuple.Time, reason string) {
	p := u.path
	if u.needs == nil {
		u.needs = make(map[int]tuple.Time)
	}
	u.needs[input] = max(before, u.needs[input])
	p.anew.lost = true
	r.forkFor(u)
	r.silence(p)
	p.anew.need, p.anew.reason = max(p.anew.need, before), reason
	p.unsettle()
}

// refute takes back that rows are lost far behind what an input is complete up to: who said so has lied, and be it the last thing that
// was heard of it.
func (r *Replica) refute(u *union, input int, boundary tuple.Time) {
	most := boundary.Add(u.place.Slack + u.place.Lag + mostBeyond)
	if need, lost := u.needs[input]; !lost || need <= most {
		return
	}
	u.needs[input] = most
	need := tuple.MinTime
	for _, v := range u.path.unions {
		for _, t := range v.needs {
			need = max(need, t)
		}
	}
	u.path.anew.need = need
}

// silence ends what the outputs that depend on what is lost give as stable.
func (r *Replica) silence(p *path) {
	p.anew.lost = true
	for _, o := range p.outputs {
		if s := &r.silent[o]; !s.on && (p.fork == nil || p.fork.AffectedOutput(o)) {
			s.on, s.told = true, r.numbers[o].State().Boundary
		}
	}
}

// forkFor lets an SUnion give its buckets to the fork.
func (r *Replica) forkFor(u *union) {
	if !u.affected && !u.path.broken {
		r.affect(u, u.su.Released())
	}
}

// forkAll lets there be a fork. One that is there goes on as it is: what lacks nothing stays out of it.
func (r *Replica) forkAll(p *path) {
	if p.fork != nil {
		return
	}
	for _, u := range p.unions {
		r.forkFor(u)
	}
}

// settled: nothing has been lost, or outputs have been told of it.
func settled(told bool) anew {
	return anew{need: tuple.MinTime, from: tuple.MinTime, to: tuple.MinTime, told: told}
}

// unsettle takes back where a path is to begin anew: another bucket has gone to the fork that is not complete.
func (p *path) unsettle() {
	p.anew.to, p.anew.whole, p.anew.passed, p.anew.told = tuple.MinTime, 0, false, false
}

// converge brings a path on that begins anew.
func (r *Replica) converge(p *path) (busy bool, err error) {
	if p.anew.lost {
		r.forkAll(p) // as after a restart
		if p.fork != nil {
			r.change(p, dcaa.UpstreamFailure) // nothing is redone any more, and the fork does not wait because others serve
		}
	}
	if p.anew.to == tuple.MinTime {
		r.makeRoom(p)
		if !r.whole(p) {
			return false, nil
		}
		r.decide(p)
	}
	r.agree(p)
	for _, u := range p.unions {
		if err := r.pass(u); err != nil {
			return false, err
		}
	}
	r.notePassed(p)
	if r.lowest(p) >= p.anew.to {
		r.tellAnew(p)
		return true, nil
	}
	for _, u := range p.unions {
		if !u.affected || u.su.Released() < p.anew.from {
			continue
		}
		// New rows come first, and what the fork gives stands.
		if to := r.slice(u); to > u.su.Forked() {
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
	return busy || r.lowest(p) >= p.anew.to, nil
}

// pass passes over what the fork of an SUnion has had, up to where its stable side is fed again.
func (r *Replica) pass(u *union) error {
	to := min(u.path.anew.from, u.su.Forked())
	if !u.affected || to <= u.su.Released() {
		return nil
	}
	u.su.Pass(to)
	r.level(u.path)
	return r.inst.Boundary(u.n, to)
}

// notePassed asks for a recovery point as soon as the stable side stands where it is fed again: who is restarted from there begins
// anew at the same place, where one of before leads back into a history that readers are about to leave.
func (r *Replica) notePassed(p *path) {
	if !p.anew.passed && r.lowest(p) >= p.anew.from {
		p.anew.passed = true
		r.beginnings++
	}
}

// whole reports whether the input of a path is complete again up to where the fork has got, and in time: more of what is late is
// on its way. What stays late without getting ahead of the fork is as it will be.
func (r *Replica) whole(p *path) bool {
	late := int64(0)
	for _, u := range p.unions {
		if u.su.Stable() < max(u.su.Forked(), p.anew.need) {
			p.anew.whole = 0
			return false
		}
		late = max(late, u.path.wait.Late(u.su.Stable(), u.place, r.now))
	}
	if p.anew.whole == 0 {
		p.anew.whole = r.now
	}
	at := p.anew.whole.Add(2 * r.cfg.Settings.MaxDelay)
	if late <= r.cfg.Settings.MaxDelay/2 || r.now >= at {
		return true
	}
	r.due = min(r.due, at)
	return false
}

// makeRoom passes over what fills an SUnion that waits for other inputs: the fork has had it. Once it is decided from where on the
// stable side is fed again nothing behind that is passed over.
func (r *Replica) makeRoom(p *path) {
	for _, u := range p.unions {
		if u.affected && u.su.Forked() > u.su.Released() && r.crowded(u) {
			r.silence(p)
			u.su.Pass(u.su.Forked())
		}
	}
}

// decide fixes where a path begins anew: where another replica has begun if that can be, or else behind all that has been given.
func (r *Replica) decide(p *path) {
	a := &p.anew
	r.silence(p)
	least, far := a.need, a.need
	for _, u := range p.unions {
		least = max(least, u.su.Released())
		far = max(far, u.su.Released(), u.su.Forked())
	}
	if at, ok := r.elsewhere(p, least); ok {
		a.from, a.to, a.own = max(least, at.Add(-r.span)), at, at
		return
	}
	bucket := r.cfg.Plan.Bucket
	if a.reason == "" {
		a.reason = tentativeReason(p.missing)
	}
	a.from = r.ceil(far, bucket)
	a.to = a.from.Add(r.span)
	if far > a.need {
		// Others may have got further, or less far. Behind what their producers have lost for good they begin at one place anyway.
		if len(r.peers) > 0 {
			a.to = a.to.Add(agreeTime)
		}
		bucket *= max(1, tuple.Second/bucket)
	}
	a.to = r.ceil(a.to, bucket)
	a.own = a.to
	r.change(p, dcaa.UpstreamFailure)
}

// tentativeReason says in a GAP which inputs were away.
func tentativeReason(missing []tuple.Missing) string {
	var names []string
	for _, m := range missing {
		names = append(names, m.Stream)
	}
	if len(names) == 0 {
		return "results were tentative, and are best effort"
	}
	return "results were tentative without " + strings.Join(names, ", ") + ", and are best effort"
}

// ceil rounds up to a multiple of a size.
func (r *Replica) ceil(t tuple.Time, size int64) tuple.Time {
	if down := t.FloorTo(size, 0); down < t {
		return down.Add(size)
	}
	return t
}

// tellAnew ends the silence: what the stable side makes from here on depends on nothing that was lost.
func (r *Replica) tellAnew(p *path) {
	a := &p.anew
	r.beginnings++
	for _, o := range p.outputs {
		s := &r.silent[o]
		if !s.on {
			continue
		}
		from := r.numbers[o].State().Boundary
		r.numbers[o].Begin(r.origin(o, a.to))
		s.on, s.begins = false, a.to
		f := &tuple.Frame{Kind: tuple.Gap, Time: from, To: max(from, s.told), Reason: a.reason, Generation: r.numbers[o].State().Generation}
		r.began[o] = beginning{times: r.began[o].times + 1, from: f.Time, to: f.To, reason: f.Reason}
		r.shell.Emit(o, f)
		_ = stableOut{r}.Boundary(o, s.told)
	}
	*a = settled(p.fork != nil)
	for _, u := range p.unions {
		u.needs = nil
	}
	if p.fork != nil && r.passed(p) {
		r.finish(p, false)
	}
}
