package replica

// replaceable reports whether stable input is there for all that the fork has been given: only then is it given up for the
// redo. What it has produced stands until stable results have replaced it, and it could not go on in between.
func (r *Replica) replaceable(p *path) bool {
	for _, u := range p.unions {
		if u.affected && u.su.Stable() < u.su.Forked() {
			return false
		}
	}
	return true
}

// undo gives the tentative state of a path up, so that the redo begins. Since a fork shares the pages that it has not
// changed, what it copied is the log of the changes, and to drop it is to undo them all. If stable input for a part of the
// run is still to come, the run ends as well: another one begins if that part does not come in time.
func (r *Replica) undo(p *path) {
	switch {
	case p.undone:
	case r.replaceable(p):
		p.undone = true
		p.fork.Drop()
	default:
		r.finish(p, true)
	}
}

// forkAgain lets an undone path serve new rows again: the redo has not come to them within the time for which they may be
// held. The fork begins at what the redo has reached and goes on behind what its run had given, for to give it all of that once
// more would take as long as the redo. So it lacks what lies in between, and is kept until the stable side has passed it: the
// time to undo it is over.
func (r *Replica) forkAgain(p *path) {
	mask := make([]bool, len(r.unions))
	for _, u := range p.unions {
		mask[u.n], u.base = u.affected, u.su.Released()
	}
	p.fork = r.inst.ForkAffected(mask, tentativeOut{r, p})
	p.undone, p.again = false, true
}
