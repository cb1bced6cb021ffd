package dcaa

import (
	"fmt"
	"slices"
)

// permissionWorld is one state of the whole system that the search explores: the replicas and the network between them.
// Replica i is "org/a", "org/b", … Worlds are never changed once made.
type permissionWorld struct {
	nodes  []permissionNode
	net    []packet // in flight, sorted
	cut    uint16   // bit a*4+b: nothing goes between a and b any more; set both ways
	faults int      // so far
}

// permissionNode is a replica in the model.
type permissionNode struct {
	p       Permission
	wanted  uint8 // how often so far
	dead    bool  // and will never come back
	excused uint8 // bit j: its redo began because j was absent, not because j said yes
}

// packet is a message in flight, of one byte a field so that it can be compared and stored.
type packet struct{ from, to, kind, asker, incarnation, number, missed byte }

func (k packet) compare(o packet) int {
	a := [7]byte{k.from, k.to, k.kind, k.asker, k.incarnation, k.number, k.missed}
	b := [7]byte{o.from, o.to, o.kind, o.asker, o.incarnation, o.number, o.missed}
	return slices.Compare(a[:], b[:])
}

var replicaNames = []string{"org/a", "org/b", "org/c"}

func (k packet) message() PermissionMessage {
	return PermissionMessage{
		Kind: PermissionKind(k.kind), Asker: replicaNames[k.asker],
		AskerIncarnation: uint64(k.incarnation), Number: uint64(k.number), Missed: uint64(k.missed),
	}
}

func newPermissionWorld(replicas int, broken permissionRule) *permissionWorld {
	w := &permissionWorld{nodes: make([]permissionNode, replicas)}
	for i := range w.nodes {
		w.nodes[i].p = *NewPermission(replicaNames[i], 1, replicaNames[:replicas])
		w.nodes[i].p.broken = broken
	}
	return w
}

// key is the canonical form of what decides about the future, and all of it but what bounds the search.
func (w *permissionWorld) key(b []byte) []byte {
	for i := range w.nodes {
		n := &w.nodes[i]
		b = append(b, byte(n.p.phase)|n.excused<<2|bit(n.dead)<<7, byte(n.p.incarnation), byte(n.p.number), byte(n.p.missed))
		for j := range n.p.peers {
			q := &n.p.peers[j]
			b = append(b, bit(q.absent)|bit(q.yes)<<1|bit(q.owed)<<2, byte(q.newest.incarnation), byte(q.newest.number))
		}
	}
	b = append(b, byte(w.cut), byte(w.cut>>8))
	for _, k := range w.net {
		b = append(b, k.from|k.to<<2|k.kind<<4, k.incarnation, k.number, k.missed)
	}
	return b
}

func bit(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// clone is a copy whose node i may be changed; the others are shared and must not be.
func (w *permissionWorld) clone(i int) *permissionWorld {
	c := *w
	c.nodes = slices.Clone(w.nodes)
	c.nodes[i].p.peers = slices.Clone(w.nodes[i].p.peers)
	c.net = slices.Clone(w.net)
	return &c
}

// after completes a step of node i: its messages go into the network, and if its redo began it is noted who was absent.
func (w *permissionWorld) after(i int, before permissionPhase, everlasting bool) *permissionWorld {
	n := &w.nodes[i]
	if n.p.phase != permissionRedoing {
		n.excused = 0
	} else if before != permissionRedoing {
		for _, q := range n.p.peers {
			if q.absent && (!q.yes || !n.p.keeps(ruleJudgedAtBegin)) {
				n.excused |= 1 << replicaNumber(q.name)
			}
		}
	}
	for _, m := range n.p.TakeMessages() {
		k := packet{
			from: byte(i), to: byte(replicaNumber(m.To)), kind: byte(m.Message.Kind), asker: byte(replicaNumber(m.Message.Asker)),
			incarnation: byte(m.Message.AskerIncarnation), number: byte(m.Message.Number), missed: byte(m.Message.Missed),
		}
		at, there := slices.BinarySearchFunc(w.net, k, packet.compare)
		if w.gone(int(k.to), i) || there && everlasting {
			continue
		}
		w.net = slices.Insert(w.net, at, k)
	}
	return w
}

// gone reports whether a peer is dead or cut off from i for ever.
func (w *permissionWorld) gone(peer, i int) bool {
	return w.nodes[peer].dead || w.cut&(1<<(4*peer+i)) != 0
}

// absent is what node i holds of a peer.
func (w *permissionWorld) absent(i, peer int) bool {
	return w.nodes[i].p.peer(replicaNames[peer]).absent
}

// quiet reports whether nobody wants or redoes.
func (w *permissionWorld) quiet() bool {
	return !slices.ContainsFunc(w.nodes, func(n permissionNode) bool { return !n.dead && n.p.phase != permissionIdle })
}

// together returns a complaint if two redo of which neither began because the other was absent.
func (w *permissionWorld) together() string {
	for i := range w.nodes {
		for j := range i {
			a, b := &w.nodes[i], &w.nodes[j]
			if a.p.Granted() && b.p.Granted() && !a.dead && !b.dead && a.excused&(1<<j) == 0 && b.excused&(1<<i) == 0 {
				return fmt.Sprintf("%s and %s redo at once", b.p.self, a.p.self)
			}
		}
	}
	return ""
}

// numbers returns the highest number of a request.
func (w *permissionWorld) numbers() (highest uint64) {
	for i := range w.nodes {
		highest = max(highest, w.nodes[i].p.number)
	}
	return highest
}

func replicaNumber(name string) int { return int(name[len(name)-1] - 'a') }

// collect takes the packets out of the network that can change nothing when they arrive, now or later. It knows the rules
// of the complete protocol: a yes changes nothing but the outstanding request that it names, and a request that is older
// than the newest seen changes nothing unless its receiver forgets that in a crash.
func (w *permissionWorld) collect(crash bool) {
	w.net = slices.DeleteFunc(w.net, func(k packet) bool {
		p := &w.nodes[k.to].p
		q := p.peer(replicaNames[k.from])
		r := permissionRequest{incarnation: uint64(k.incarnation), number: uint64(k.number)}
		if PermissionKind(k.kind) == PermissionYes {
			return p.phase != permissionAsking || q.yes || r.before(permissionRequest{p.incarnation, p.number})
		}
		return !crash && r.before(q.newest)
	})
}
