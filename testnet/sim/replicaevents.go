package sim

import (
	"fmt"
	"slices"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// Reachable passes on whether a producer or another replica can be talked to.
func (a *replicaActor) Reachable(peer world.NodeID, up bool) {
	if a.core == nil {
		return
	}
	now := a.h.Now()
	a.run.reaches(a.id, peer, up)
	for n, list := range a.producers {
		for k, id := range list {
			if id == peer {
				a.core.Reachable(now, n, k, up)
			}
		}
	}
	for k, id := range a.peers {
		if id == peer {
			a.core.PeerReachable(now, k, up)
		}
	}
	a.dirty = true
}

// Heard passes on what a heartbeat says.
func (a *replicaActor) Heard(peer world.NodeID, streams []world.Status) {
	if a.core == nil {
		return
	}
	now := a.h.Now()
	for i := range streams {
		s := &streams[i]
		if n := a.inputOf[s.Stream]; n >= 0 {
			for k, id := range a.producers[n] {
				if id == peer {
					a.run.changes.heard(a.id, peer, s)
					a.core.Measured(int(n), k, a.h.Way(peer))
					a.core.Heard(now, int(n), k, s.StreamStatus)
				}
			}
			continue
		}
		if o := a.outputOf[s.Stream]; o >= 0 {
			for k, id := range a.peers {
				if id == peer {
					a.core.PeerHeard(now, k, int(o), s.StreamStatus)
				}
			}
		}
	}
	a.dirty = true
}

// Beat tells readers and other replicas how the outputs fare.
func (a *replicaActor) Beat(_ world.NodeID, beat []world.Status) []world.Status {
	for n, s := range a.outputs {
		st := dcaa.StreamStatus{State: dcaa.Failure, Boundary: tuple.MinTime}
		if a.core != nil {
			st = a.core.Status(n)
		}
		if a.run.says != nil {
			st = a.run.says(a.id, st)
		}
		beat = append(beat, world.Status{Stream: s, StreamStatus: st})
	}
	return beat
}

// Opened passes on that a subscription stands.
func (a *replicaActor) Opened(stream int32, conn uint64) {
	if a.core != nil {
		a.core.Opened(a.h.Now(), int(a.inputOf[stream]), conn)
		a.dirty = true
	}
}

// Refused passes on that it was declined.
func (a *replicaActor) Refused(stream int32, conn uint64) {
	if a.core != nil {
		a.core.Refused(a.h.Now(), int(a.inputOf[stream]), conn)
		a.dirty = true
	}
}

// Truncated passes on that the producer does not reach back so far.
func (a *replicaActor) Truncated(stream int32, conn uint64, first tuple.Position) {
	if a.core != nil {
		a.core.Truncated(a.h.Now(), int(a.inputOf[stream]), conn, first)
		a.dirty = true
	}
}

// Closed passes on that a subscription is over.
func (a *replicaActor) Closed(stream int32, conn uint64) {
	if a.core != nil {
		a.core.Closed(a.h.Now(), int(a.inputOf[stream]), conn)
		a.dirty = true
	}
}

// Frame passes a frame on.
func (a *replicaActor) Frame(stream int32, conn uint64, f *tuple.Frame) {
	if a.core == nil {
		return
	}
	a.run.changes.frame(a.h, stream, conn, f)
	if err := a.core.Frame(a.h.Now(), int(a.inputOf[stream]), conn, f); err != nil {
		a.run.broken("a producer broke the protocol: " + a.run.name(a.id) + ": " + err.Error())
	}
	a.dirty = true
}

// Owe says that input waits for this node's processor: every input may be among it.
func (a *replicaActor) Owe(owing bool) {
	if a.core != nil {
		for n := range a.inputs {
			a.core.Owe(n, owing)
		}
	}
}

// Resumed passes on that the node stood still.
func (a *replicaActor) Resumed(gap int64) {
	if a.core != nil {
		a.core.Resumed(a.h.Now(), gap)
		a.dirty = true
	}
}

// Acked lets an output forget.
func (a *replicaActor) Acked(peer world.NodeID, stream int32, at tuple.Position) {
	if n := a.outputOf[stream]; n >= 0 && a.core != nil {
		a.buffers[n].Ack(peer, at)
	}
}

// wanted asks a peer for its state, which it sends as a *point.
type wanted struct{}

// Peer takes what another replica sent.
func (a *replicaActor) Peer(peer world.NodeID, body any) {
	switch m := body.(type) {
	case dcaa.PermissionMessage:
		if a.core != nil {
			a.core.PeerMessage(a.h.Now(), a.run.name(peer), m)
			a.dirty = true
		}
	case wanted:
		if a.core != nil {
			a.h.Tell(peer, a.point())
		}
	case *point:
		switch {
		case a.moving && a.saving != nil:
			a.offer, a.offerFrom = m, peer // when what is being stored is durable
		case a.moving:
			a.offered(peer, m)
		}
	}
}

// offered takes the state of a peer, as far as it is of use: it is made durable, and then this life ends.
func (a *replicaActor) offered(peer world.NodeID, p *point) {
	a.moving = false
	if a.core == nil {
		return
	}
	take := a.core.Offered(a.h.Now(), slices.Index(a.peers, peer), p.state, false)
	if take == nil {
		a.dirty = true
		return
	}
	if !take.Whole() {
		var err error
		if p, err = a.graft(p, take); err != nil {
			a.run.broken(fmt.Sprintf("%s cannot take over a part: %v", a.run.name(a.id), err))
			return
		}
		a.run.result.Coverage.Parts++
	}
	a.saving, a.takes = p, true
	a.h.W.Commit(slotPoint, p)
}

// graft makes a point of the present state and what is taken of a peer's.
func (a *replicaActor) graft(theirs *point, take replica.Take) (*point, error) {
	s, operators, err := a.core.Graft(theirs.state, theirs.operators, take)
	p := &point{state: s, operators: operators}
	for n, taken := range take.Outputs(a.plan) {
		if taken {
			p.outputs = append(p.outputs, theirs.outputs[n])
		} else {
			p.outputs = append(p.outputs, a.held(n))
		}
	}
	return p, err
}

// Transfer asks a replica for its state. When it is durable here, this life ends, and the next one begins with it.
func (a *replicaActor) Transfer(peer int) {
	a.moving = true
	a.run.result.Coverage.Transfers++
	a.h.Tell(a.peers[peer], wanted{})
}
