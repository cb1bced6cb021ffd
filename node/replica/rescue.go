package replica

import "fednode/dcaa"

// transferAgain is how long a state transfer may take before another replica is asked, in microseconds.
const transferAgain = 10_000_000

// abandonAfter is for how long a replica with a usable state is waited for, in microseconds, until the rows are given up.
// The one that has acknowledged most is never dropped from the count upstream, so that waiting for it loses nothing.
const abandonAfter = 10 * 60 * 1_000_000

// rescue finds a way on for an input that no producer can serve any more: the state of another replica, and only if there
// is none to be had for a while, a GAP.
func (r *Replica) rescue(in *input) {
	t, can := r.shell.(Transferer)
	if !can || len(r.peers) == 0 {
		in.intake.Skip(r.now, "no replica holds these rows any more")
		return
	}
	if r.lostAt == 0 {
		r.lostAt = r.now
	}
	if up := r.nextUp(); up >= 0 {
		r.lostAt = r.now
		if r.now >= r.transferAt {
			r.transferAt = r.now.Add(transferAgain)
			r.asked = up
			t.Transfer(up)
		}
		r.due = min(r.due, r.transferAt)
		return
	}
	patience := r.lostAt.Add(abandonAfter)
	if r.now < patience {
		r.due = min(r.due, patience)
		return
	}
	r.lostAt = 0
	in.intake.Skip(r.now, "no replica holds these rows any more, and none has a state that covers them")
}

// nextUp returns a peer that can be reached, the one after the last that was asked; -1 if there is none.
func (r *Replica) nextUp() int {
	for k := range r.peers {
		n := (r.asked + 1 + k) % len(r.peers)
		if r.peers[n].up {
			return n
		}
	}
	return -1
}

// lost is the state of rescue.
type lost struct {
	// lostAt is since when an input can go on nowhere and no replica can be reached; 0 if that is not so.
	lostAt     dcaa.Instant
	transferAt dcaa.Instant // not asked again before
	asked      int          // the last peer that was asked
}
