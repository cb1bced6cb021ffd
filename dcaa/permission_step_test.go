package dcaa

import (
	"fmt"
	"slices"
)

// permissionStep is one thing that can happen in a permissionWorld.
type permissionStep struct {
	kind   stepKind
	i, j   int // the replica, and the peer
	missed uint64
	k      packet
}

type stepKind uint16

const (
	stepWant      stepKind = 1 << iota // i wants to redo
	stepGrow                           // i, which asks already, wants with more buckets missed
	stepRelease                        // i finishes, or withdraws
	stepDeliver                        // k arrives
	stepCopy                           // k arrives, and a copy of it stays in flight
	stepLose                           // k is lost
	stepTick                           // i repeats its request, early or late
	stepTickAll                        // a second passes in which nothing else happens
	stepCrash                          // i crashes and starts again
	stepDie                            // i crashes for ever
	stepCut                            // i and j never hear of each other again
	stepSuspect                        // i holds j absent
	stepUnsuspect                      // i sees j again
)

func (s permissionStep) String() string {
	i, j := replicaNames[s.i], replicaNames[s.j]
	arrow := fmt.Sprintf("%s -> %s: %v", replicaNames[s.k.from], replicaNames[s.k.to], s.k.message())
	switch s.kind {
	case stepWant, stepGrow:
		return fmt.Sprintf("%s wants, missed=%d", i, s.missed)
	case stepRelease:
		return i + " releases"
	case stepDeliver:
		return arrow
	case stepCopy:
		return arrow + " (a copy stays in flight)"
	case stepLose:
		return arrow + " (lost)"
	case stepTick:
		return i + " repeats"
	case stepTickAll:
		return "a second passes"
	case stepCrash:
		return i + " restarts"
	case stepDie:
		return i + " dies"
	case stepCut:
		return i + " and " + j + " are cut apart"
	case stepSuspect:
		return i + " holds " + j + " absent"
	case stepUnsuspect:
		return i + " sees " + j + " again"
	}
	return fmt.Sprintf("unknown step %d", s.kind)
}

// take returns the world after a step.
func (w *permissionWorld) take(s permissionStep, everlasting bool) *permissionWorld {
	c := w.clone(s.i)
	n := &c.nodes[s.i]
	before := n.p.phase
	switch s.kind {
	case stepWant, stepGrow:
		n.wanted += bit(s.kind == stepWant)
		n.p.Want(0, s.missed)
	case stepRelease:
		n.p.Release(0)
	case stepDeliver, stepCopy, stepLose:
		if s.kind != stepCopy && !everlasting {
			at, _ := slices.BinarySearchFunc(c.net, s.k, packet.compare)
			c.net = slices.Delete(c.net, at, at+1)
		}
		if s.kind != stepLose {
			n.p.Message(0, replicaNames[s.k.from], s.k.message())
		}
	case stepTick:
		due, _ := n.p.Due()
		n.p.Tick(due)
	case stepTickAll:
		for i := range c.nodes {
			c = c.take(permissionStep{kind: stepTick, i: i}, everlasting)
		}
		return c
	case stepCrash:
		broken := n.p.broken
		n.p = *NewPermission(n.p.self, n.p.incarnation+1, replicaNames[:len(c.nodes)])
		n.p.broken = broken
	case stepDie:
		n.dead = true
		n.p = *NewPermission(n.p.self, n.p.incarnation, replicaNames[:len(c.nodes)])
		c.net = slices.DeleteFunc(c.net, func(k packet) bool { return int(k.to) == s.i })
	case stepCut:
		c.cut |= 1<<(4*s.i+s.j) | 1<<(4*s.j+s.i)
		c.net = slices.DeleteFunc(c.net, func(k packet) bool { return c.gone(int(k.to), int(k.from)) })
	case stepSuspect, stepUnsuspect:
		n.p.Peer(0, replicaNames[s.j], s.kind == stepSuspect)
	}
	return c.after(s.i, before, everlasting)
}
