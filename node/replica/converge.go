package replica

import (
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/sunion"
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

// lose notes that an SUnion lacks rows before an stime for good: the path begins anew behind it.
func (r *Replica) lose(u *union, before tuple.Time, reason string) {
	p := u.path
	p.anew.lost = true
	r.forkFor(u)
	r.silence(p)
	p.anew.need, p.anew.reason = max(p.anew.need, before), reason
	p.anew.to, p.anew.told = tuple.MinTime, false
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

// settled: nothing has been lost, or outputs have been told of it.
func settled(told bool) anew {
	return anew{need: tuple.MinTime, from: tuple.MinTime, to: tuple.MinTime, told: told}
}

// unsettle takes back where a path is to begin anew: another bucket has gone to the fork that is not complete.
func (p *path) unsettle() { p.anew.to, p.anew.told = tuple.MinTime, false }

// converge brings a path on that begins anew.
func (r *Replica) converge(p *path) (busy bool, err error) {
	if p.anew.lost {
		for _, u := range p.unions {
			r.forkFor(u) // as after a restart
		}
	}
	r.makeRoom(p)
	if p.anew.to == tuple.MinTime {
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

// whole reports whether the input of a path is complete again up to where the fork has got.
func (r *Replica) whole(p *path) bool {
	for _, u := range p.unions {
		if u.su.Stable() < max(u.su.Forked(), p.anew.need) {
			return false
		}
		if late := u.path.wait.Late(u.su.Stable(), u.place, r.now); late > r.cfg.Settings.MaxDelay/2 {
			return false // more of what is late is on its way
		}
	}
	return true
}

// rejoin lets a path that has missed more than another replica, as one that was restarted has, begin anew where that one has.
func (r *Replica) rejoin(p *path) {
	if !r.bestEffort() || p.anew.lost || p.broken || p.state == dcaa.Stable {
		return
	}
	least := tuple.MinTime
	for _, u := range p.unions {
		least = max(least, u.su.Released())
	}
	at, ok := r.elsewhere(p, least)
	if !ok || least == tuple.MinTime {
		return
	}
	for _, u := range p.unions {
		r.forkFor(u)
	}
	r.silence(p)
	p.anew.from, p.anew.to, p.anew.own, p.anew.reason = max(least, at.Add(-r.span)), at, at, "another replica has begun anew here"
}

// makeRoom passes over what fills an SUnion that waits for other inputs: the fork has had it.
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

// elsewhere returns the first place at which another replica has begun anew where this one can still do so, having passed over
// nothing behind least.
func (r *Replica) elsewhere(p *path, least tuple.Time) (at tuple.Time, ok bool) {
	most := r.told(p)
	for k := range r.peers {
		other := &r.peers[k]
		for _, o := range p.outputs {
			s := &other.status[o]
			if !other.up || s.Begins <= 0 || p.fork != nil && !p.fork.AffectedOutput(o) || s.Begins.Add(-r.span) < least || s.Begins > most || ok && s.Begins >= at {
				continue
			}
			origin := r.origin(o, s.Begins)
			if g := origin.Generation(); s.Generation == g && g != r.numbers[o].State().Generation {
				at, ok = s.Begins, true
			}
		}
	}
	return at, ok
}

// agree puts off where a path begins anew to where another replica does, or means to. Those that felt one failure mean to begin
// near each other; one that says a place far away is not followed, or results would stay tentative for as long as it likes.
func (r *Replica) agree(p *path) {
	most := p.anew.own.Add(2 * r.cfg.Settings.MaxDelay)
	for k := range r.peers {
		for _, o := range p.outputs {
			if s := &r.peers[k].status[o]; r.peers[k].up && r.silent[o].on && s.Begins <= most {
				p.anew.to = max(p.anew.to, s.Begins)
			}
		}
	}
}

// told is how far the producers of a path's inputs are by what they say: nobody has begun anew behind it.
func (r *Replica) told(p *path) tuple.Time {
	far := tuple.MinTime
	for _, u := range p.unions {
		for _, in := range r.cfg.Plan.Unions[u.n].Inputs {
			far = max(far, r.inputs[in].intake.Told())
		}
	}
	return far
}

// beginsAt is where an output begins anew, or its generation has; 0 if it has not.
func (r *Replica) beginsAt(output int) tuple.Time {
	s := &r.silent[output]
	if p := r.pathOf(output); s.on && p != nil && p.anew.to != tuple.MinTime {
		return p.anew.to
	}
	return s.begins
}

// origin is what the results of an output depend on that begins anew at an stime.
func (r *Replica) origin(output int, at tuple.Time) sunion.Origin {
	a := sunion.Origin{At: at}
	for _, n := range r.cfg.Plan.Outputs[output].Unions {
		for k, in := range r.cfg.Plan.Unions[n].Inputs {
			generation, _ := r.unions[n].su.Last(k)
			a.Streams = append(a.Streams, sunion.Begun{Stream: r.inputs[in].stream, Generation: generation})
		}
	}
	return a
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
		r.shell.Emit(o, f)
		_ = stableOut{r}.Boundary(o, s.told)
	}
	*a = settled(p.fork != nil)
	if p.fork != nil && r.passed(p) {
		r.finish(p, false)
	}
}

// Beginnings rises whenever results have begun anew. A recovery point of before leads back into a history that readers have left:
// the shell cuts another one soon.
func (r *Replica) Beginnings() uint64 { return r.beginnings }

// snapshotAnew adds to a recovery point what has been lost. Without it a restarted replica would go on behind lost rows as if it
// had them.
func (r *Replica) snapshotAnew(s *State) {
	if !r.bestEffort() {
		return
	}
	for _, p := range r.paths {
		s.Anew = append(s.Anew, AnewState{Lost: p.anew.lost, Need: p.anew.need, From: p.anew.from, To: p.anew.to, Reason: p.anew.reason})
	}
	for _, o := range r.silent {
		s.Silences = append(s.Silences, SilenceState{On: o.on, Told: o.told, Begins: o.begins})
	}
}

// restoreAnew takes it up again. In a plan that has changed its paths since, all of them begin anew if one had to.
func (r *Replica) restoreAnew(s *State) {
	if len(s.Anew) != len(r.paths) || len(s.Silences) != len(r.silent) {
		for _, a := range s.Anew {
			if a.Lost {
				r.loseAll(max(a.Need, a.From), a.Reason)
			}
		}
		return
	}
	for n, a := range s.Anew {
		r.paths[n].anew = anew{lost: a.Lost, need: a.Need, from: a.From, to: a.To, own: a.To, reason: a.Reason}
	}
	for n, o := range s.Silences {
		r.silent[n] = silence{on: o.On, told: o.Told, begins: o.Begins}
	}
}

// loseAll lets every path begin anew behind an stime.
func (r *Replica) loseAll(before tuple.Time, reason string) {
	for _, p := range r.paths {
		p.anew.need, p.anew.reason = max(p.anew.need, before), reason
		r.silence(p)
	}
}
