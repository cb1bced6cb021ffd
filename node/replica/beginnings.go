package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/sunion"
)

// rejoin lets a path that has missed more than another replica, as one that was restarted has, begin anew where that one has.
func (r *Replica) rejoin(p *path) {
	if !r.bestEffort() || p.anew.lost || p.broken || p.state == dcaa.Stable {
		return
	}
	least := r.highest(p)
	at, ok := r.elsewhere(p, least)
	if !ok || least == tuple.MinTime {
		return
	}
	r.forkAll(p)
	r.silence(p)
	p.unsettle()
	p.anew.from, p.anew.to, p.anew.own, p.anew.reason = max(least, at.Add(-r.span)), at, at, "another replica has begun anew here"
}

// elsewhere returns the first place at which another replica has begun anew where this one can still do so, having passed over
// nothing behind least.
func (r *Replica) elsewhere(p *path, least tuple.Time) (at tuple.Time, ok bool) {
	most := r.told(p).Add(r.cfg.Settings.MaxDelay) // it may have heard of more than we have
	for k := range r.peers {
		other := &r.peers[k]
		for _, o := range p.outputs {
			s := &other.status[o]
			if !other.up || s.Begins <= 0 || p.fork != nil && !p.fork.AffectedOutput(o) || s.Begins.Add(-r.span) < least || s.Begins > most || !r.beginsBucket(s.Begins) || ok && s.Begins >= at {
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
// near each other; one that says a place far away is not followed, or results would stay tentative for as long as it likes. Where one
// has begun before is taken if that can be, though it was heard only since.
func (r *Replica) agree(p *path) {
	most := p.anew.own.Add(2 * r.cfg.Settings.MaxDelay)
	for k := range r.peers {
		for _, o := range p.outputs {
			if s := &r.peers[k].status[o]; r.peers[k].up && r.silent[o].on && s.Begins <= most && r.beginsBucket(s.Begins) {
				p.anew.to = max(p.anew.to, s.Begins)
			}
		}
	}
	if at, ok := r.elsewhere(p, p.anew.from); ok && at < p.anew.to && at >= r.highest(p) {
		p.anew.to = at
	}
}

// beginsBucket reports whether an stime is one at which a bucket begins: nothing begins anew in the middle of one.
func (r *Replica) beginsBucket(t tuple.Time) bool { return t.FloorTo(r.cfg.Plan.Bucket, 0) == t }

// highest returns up to where an SUnion of a path has been released that is ahead.
func (r *Replica) highest(p *path) tuple.Time {
	far := tuple.MinTime
	for _, u := range p.unions {
		far = max(far, u.su.Released())
	}
	return far
}

// told is how far the producers of all of a path's inputs are by what they say: nobody has begun anew behind it.
func (r *Replica) told(p *path) tuple.Time {
	low := tuple.MaxTime
	for _, u := range p.unions {
		for _, in := range r.cfg.Plan.Unions[u.n].Inputs {
			low = min(low, r.inputs[in].intake.Told())
		}
	}
	return low
}

// beginsAt is where an output begins anew, or its generation has; 0 if it has not.
func (r *Replica) beginsAt(output int) tuple.Time {
	s := &r.silent[output]
	if p := r.pathOf(output); s.on && p != nil && p.anew.to != tuple.MinTime {
		return p.anew.to
	}
	return s.begins
}

// origin is what the results of an output depend on that begins anew at an stime. The generation of an input that has the same rows in
// each is not of that.
func (r *Replica) origin(output int, at tuple.Time) sunion.Origin {
	a := sunion.Origin{At: at}
	for _, n := range r.cfg.Plan.Outputs[output].Unions {
		for k, in := range r.cfg.Plan.Unions[n].Inputs {
			generation, _ := r.unions[n].su.Last(k)
			if r.inputs[in].exact() {
				generation = 0
			}
			a.Streams = append(a.Streams, sunion.Begun{Stream: r.inputs[in].stream, Generation: generation})
		}
	}
	return a
}
