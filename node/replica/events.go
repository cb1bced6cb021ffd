package replica

import (
	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// Frame takes a frame of a connection of an input. An error means that the producer broke the protocol; its connection
// has been closed and it is asked anew.
func (r *Replica) Frame(now dcaa.Instant, input int, conn uint64, f *tuple.Frame) error {
	r.now = now
	in := r.inputs[input]
	in.way = in.intake.Way(conn)
	return in.intake.Frame(now, conn, f)
}

// Opened grants a connection; Refused, Truncated and Closed end one.
func (r *Replica) Opened(now dcaa.Instant, input int, conn uint64) {
	r.now = now
	r.inputs[input].intake.Opened(now, conn)
}

// Refused declines a connection for now.
func (r *Replica) Refused(now dcaa.Instant, input int, conn uint64) {
	r.now = now
	r.inputs[input].intake.Refused(now, conn)
}

// Truncated declines a connection: the producer holds nothing before first any more.
func (r *Replica) Truncated(now dcaa.Instant, input int, conn uint64, first tuple.Position) {
	r.now = now
	r.inputs[input].intake.Truncated(now, conn, first)
}

// Closed ends a connection from the other side.
func (r *Replica) Closed(now dcaa.Instant, input int, conn uint64) {
	r.now = now
	r.inputs[input].intake.Closed(now, conn)
}

// Heard takes what a producer's heartbeat says of an input.
func (r *Replica) Heard(now dcaa.Instant, input, producer int, s dcaa.StreamStatus) {
	r.now = now
	r.inputs[input].intake.Heard(now, producer, s)
}

// Reachable says whether a producer of an input is heard, and hears us.
func (r *Replica) Reachable(now dcaa.Instant, input, producer int, up bool) {
	r.now = now
	r.inputs[input].intake.Reachable(now, producer, up)
}

// Measured notes what is known of the way from a producer.
func (r *Replica) Measured(input, producer int, w dcaa.Way) {
	r.inputs[input].intake.Measured(producer, w)
}

// PeerHeard takes what a peer's heartbeat says of an output of the fragment, by its index in Plan.Outputs: every replica
// produces the same.
func (r *Replica) PeerHeard(now dcaa.Instant, peer, output int, s dcaa.StreamStatus) {
	r.now = now
	r.peers[peer].status[output] = s
	r.peers[peer].serves[output] = s.State == dcaa.UpstreamFailure && s.Holding <= r.cfg.Settings.MaxDelay || s.State == dcaa.Stable && s.Holding == 0
}

// PeerReachable says whether a peer is heard, and hears us.
func (r *Replica) PeerReachable(now dcaa.Instant, peer int, up bool) {
	r.now = now
	if up && !r.peers[peer].up {
		r.peers[peer].emptyUntil = 0 // in another life it may have a state to give
	}
	if !up && r.peers[peer].up {
		r.peers[peer].downAt = now
	}
	if r.peers[peer].up = up; !up {
		clear(r.peers[peer].serves)
		clear(r.peers[peer].status)
	}
	r.permission.Peer(now, r.peers[peer].name, !up)
}

// PeerMessage takes a message about permission.
func (r *Replica) PeerMessage(now dcaa.Instant, from string, m dcaa.PermissionMessage) {
	r.now = now
	r.permission.Message(now, from, m)
}

// Resumed says that the node stood still for so long, as after SIGSTOP: silence in that time means nothing.
func (r *Replica) Resumed(now dcaa.Instant, gap int64) {
	r.now = now
	r.stoodUntil, r.stood = now, gap
	for _, in := range r.inputs {
		in.intake.Resumed(now, gap)
	}
	for k := range r.peers {
		r.peers[k].downAt = min(now, r.peers[k].downAt.Add(gap))
	}
	for _, p := range r.paths {
		p.wait.Shift(gap)
	}
}

// Owe says whether an input waits for us rather than we for it: then a boundary that does not come is our own overload.
func (r *Replica) Owe(input int, owing bool) { r.inputs[input].intake.Owe(owing) }

// Block stops releasing while an output holds as much as it may.
func (r *Replica) Block(blocked bool) { r.blocked = blocked }

// Held reports whether an input is so far ahead of others that it has to wait for them. The one that holds the others
// back is never held.
func (r *Replica) Held(input int) bool {
	for _, f := range r.inputs[input].feeds {
		u := r.unions[f.union]
		if u.su.Waiting(f.input)+u.ahead+gapRows*len(u.gaps) <= r.cfg.WaitingRows && r.kept <= r.heldBytes() {
			continue
		}
		if u.su.InputBoundary(f.input) > r.lowest(u.path).Add(r.cfg.Plan.Bucket) {
			return true
		}
	}
	return false
}

// lowest returns up to where all SUnions of a path have been released.
func (r *Replica) lowest(p *path) tuple.Time {
	low := tuple.MaxTime
	for _, u := range p.unions {
		low = min(low, u.su.Released())
	}
	return low
}

// Status is what a heartbeat says of an output.
func (r *Replica) Status(output int) dcaa.StreamStatus {
	o := r.numbers[output].State()
	s := dcaa.StreamStatus{State: dcaa.Stable, Boundary: o.Boundary, Generation: o.Generation, LastID: o.Next - 1}
	s.Sum = r.checked(output)
	s.Begins = r.beginsAt(output)
	for _, n := range r.cfg.Plan.Outputs[output].Unions {
		u := r.unions[n]
		s.Holding = max(s.Holding, u.held)
		for _, in := range r.cfg.Plan.Unions[n].Inputs {
			s.Above = max(s.Above, r.inputs[in].intake.Withheld())
		}
		s.State = u.path.state
	}
	if p := r.pathOf(output); p != nil && p.fork != nil && !p.fork.AffectedOutput(output) {
		s.State = dcaa.Stable
	} else if p != nil && p.fork == nil && p.state == dcaa.Stabilization && !p.broken && r.delivers(output) {
		s.State = dcaa.Stable // what is not caught up with is another output's
	}
	if s.State == dcaa.Starting && r.recovering {
		s.State = dcaa.Stabilization // it has yet to catch up, and says so from the first
	}
	if o.Boundary == tuple.MaxTime {
		s.State = dcaa.Ended
	}
	return s
}

func (r *Replica) pathOf(output int) *path {
	for _, n := range r.cfg.Plan.Outputs[output].Unions {
		return r.unions[n].path
	}
	return nil
}

// Released returns up to where every SUnion has given the stable instance its buckets.
func (r *Replica) Released() tuple.Time {
	low := tuple.MaxTime
	for _, u := range r.unions {
		low = min(low, u.su.Released())
	}
	return low
}

// Progress rises whenever the stable instance has been given something.
func (r *Replica) Progress() uint64 { return r.progress }

// Input describes an input for people: the index of the producer that it is read from, -1 if there is none, up to where
// it is stable, whether a tentative suffix is held, and how many rows wait.
func (r *Replica) Input(n int) (source int, at tuple.Position, tentative bool, waiting int) {
	in := r.inputs[n]
	_, _, _, tentative = in.intake.Suffix()
	for _, f := range in.feeds {
		waiting = max(waiting, r.unions[f.union].su.Waiting(f.input))
	}
	return in.intake.Source(), in.intake.Position(), tentative, waiting
}

// Condition says how an input fares.
func (r *Replica) Condition(now dcaa.Instant, n int) dcaa.Condition {
	return r.inputs[n].intake.Condition(now)
}

// Missing are the inputs whose absence makes an output tentative; nil while it is not.
func (r *Replica) Missing(output int) []tuple.Missing {
	if p := r.pathOf(output); p != nil && p.fork != nil && p.fork.AffectedOutput(output) {
		return p.missing
	}
	return nil
}

// Instance returns the stable instance, for its status.
func (r *Replica) Instance() *query.Instance { return r.inst }
