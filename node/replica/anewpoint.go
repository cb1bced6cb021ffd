package replica

import "fednode/query/tuple"

// Beginnings rises whenever results have begun anew, and when it is known where they will. A recovery point of before leads back into
// a history that readers have left, or will: the shell cuts another one soon.
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
		for _, u := range r.paths[n].unions {
			u.needsAll(len(r.cfg.Plan.Unions[u.n].Inputs), a.Need)
		}
		r.paths[n].anew = anew{lost: a.Lost, need: a.Need, from: a.From, to: a.To, own: a.To, reason: a.Reason}
	}
	for n, o := range s.Silences {
		r.silent[n] = silence{on: o.On, told: o.Told, begins: o.Begins}
	}
}

// loseAll lets every path begin anew behind an stime.
func (r *Replica) loseAll(before tuple.Time, reason string) {
	for _, p := range r.paths {
		for _, u := range p.unions {
			u.needsAll(len(r.cfg.Plan.Unions[u.n].Inputs), before)
		}
		p.anew.need, p.anew.reason = max(p.anew.need, before), reason
		r.silence(p)
	}
}

// needsAll notes that rows may be lost before an stime, of whichever input.
func (u *union) needsAll(inputs int, before tuple.Time) {
	if before == tuple.MinTime {
		return
	}
	u.needs = make(map[int]tuple.Time)
	for k := range inputs {
		u.needs[k] = before
	}
}
