package member

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/memberlist"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"

	"fednode/node/trust"
)

// meta is what is gossiped of a node; memberlist allows 512 bytes.
type meta struct {
	Name  string   `cbor:"1,keyasint"`
	Addrs []string `cbor:"2,keyasint,omitempty"`
	// Labels are null if they have no room.
	Labels map[string]string `cbor:"3,keyasint"`
}

// delegate is Membership as memberlist sees it. memberlist calls it under its own locks, so nothing here calls back.
type delegate Membership

var (
	_ memberlist.Delegate      = (*delegate)(nil)
	_ memberlist.EventDelegate = (*delegate)(nil)
	_ memberlist.AliveDelegate = (*delegate)(nil)
)

// NodeMeta describes us, with as many addresses as there is room for. Labels that leave none for an address are left out:
// a node that cannot be reached is worse than one that is not chosen by its labels.
func (d *delegate) NodeMeta(limit int) []byte {
	m := meta{Name: d.self.Name, Addrs: d.self.Addrs(), Labels: d.self.Labels}
	if m.Labels == nil {
		m.Labels = map[string]string{}
	}
	few := meta{Name: m.Name, Addrs: m.Addrs[:min(1, len(m.Addrs))], Labels: m.Labels}
	if b, err := cbor.Marshal(few); err != nil || len(b) > limit {
		m.Labels = nil
	}
	for {
		b, err := cbor.Marshal(m)
		if err == nil && len(b) <= limit {
			return b
		}
		if len(m.Addrs) == 0 {
			return nil
		}
		m.Addrs = m.Addrs[:len(m.Addrs)-1]
	}
}

// readNode checks what is gossiped of a node. Names and addresses came from a node of our own organisation, maybe at
// third hand: whoever answers at an address must show its certificate all the same.
func readNode(n *memberlist.Node) (Node, error) {
	id, err := peer.Decode(n.Name)
	if err != nil {
		return Node{}, fmt.Errorf("member: node %.100q: %w", n.Name, err)
	}
	if !n.Addr.Equal(ip(id)) {
		return Node{}, fmt.Errorf("member: node %s: address %s, expected %s", id, n.Addr, ip(id))
	}
	var m meta
	if err := cbor.Unmarshal(n.Meta, &m); err != nil {
		return Node{}, fmt.Errorf("member: node %s: %w", id, err)
	}
	if err := trust.CheckName("node name", m.Name); err != nil {
		return Node{}, fmt.Errorf("member: node %s: %w", id, err)
	}
	return Node{Peer: id, Name: m.Name, Addrs: m.Addrs, Labels: m.Labels}, nil
}

// NotifyAlive refuses nodes that are not described as ours are, and notes where the others may be reached.
func (d *delegate) NotifyAlive(n *memberlist.Node) error {
	node, err := readNode(n)
	if err != nil {
		return err
	}
	for _, text := range node.Addrs {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("member: node %s: address %.100q: %w", node.Name, text, err)
		}
		if at, id := peer.SplitAddr(a); id == node.Peer && at != nil {
			d.net.Libp2p().Peerstore().AddAddr(node.Peer, at, peerstore.TempAddrTTL)
		}
	}
	return nil
}

// What memberlist says of a node is copied while it says so: it goes on to change its own, also what Members returns.

// NotifyJoin notes a node that is alive.
func (d *delegate) NotifyJoin(n *memberlist.Node) { d.note(n, true) }

// NotifyUpdate notes what has changed of a node.
func (d *delegate) NotifyUpdate(n *memberlist.Node) { d.note(n, true) }

// NotifyLeave forgets a node.
func (d *delegate) NotifyLeave(n *memberlist.Node) { d.note(n, false) }

func (d *delegate) note(n *memberlist.Node, alive bool) {
	node, err := readNode(n)
	if err != nil {
		return // NotifyAlive has refused it
	}
	d.mu.Lock()
	if alive {
		d.alive[node.Peer] = node
	} else {
		delete(d.alive, node.Peer)
	}
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// Nothing of ours is gossiped but the description.
func (d *delegate) NotifyMsg([]byte)                {}
func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }
func (d *delegate) LocalState(bool) []byte          { return nil }
func (d *delegate) MergeRemoteState([]byte, bool)   {}
