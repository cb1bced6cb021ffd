package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/zap"

	"fednode/node/member"
	"fednode/node/p2p"
	"fednode/node/wire"
)

// network is the node's part in what happens on the wire.
type network struct{ n *Node }

var _ p2p.Handler = network{}

// openHost makes the libp2p host and the membership, from configuration, partners' files and what was learned before.
func (n *Node) openHost() error {
	cfg := p2p.Default()
	cfg.Software = "fednode " + n.version
	cfg.Heartbeat, cfg.Miss = n.cfg.Availability.Heartbeat, n.cfg.Availability.Miss
	cfg.Announce = n.cfg.Listen.Announce
	if n.cfg.Federation.DialOut {
		cfg.Dial = p2p.DialOut
	}
	cfg.Limits.StreamsPerOrg = n.cfg.Limits.Partner.Streams
	cfg.Limits.BytesPerSec = n.cfg.Limits.Partner.BytesPerSec
	listen, err := n.listenOn()
	if err != nil {
		return err
	}
	cfg.Listen = listen
	id := p2p.Identity{Key: n.identity.Key, Certificate: n.identity.Certificate, Incarnation: uint64(n.started.UnixNano())}
	if n.host, err = p2p.New(cfg, id, n.registry, network{n}, n.log); err != nil {
		return err
	}
	n.members = member.New(member.Config{}, n.host, member.Self{Org: n.cfg.Node.Org, Name: n.cfg.Node.Name, Addrs: n.addresses, Labels: n.cfg.Node.Labels}, network{n}, n.log)
	return n.dialKnown()
}

// listenOn returns the addresses to listen on. A port 0 takes the port of last time, if there was one: partners know it.
func (n *Node) listenOn() ([]string, error) {
	if n.cfg.Listen.P2P == "" {
		return nil, nil
	}
	host, port, err := splitPort(n.cfg.Listen.P2P)
	if err != nil {
		return nil, err
	}
	if port == 0 {
		if last, ok := n.lastPort(host); ok {
			port = last
		}
	}
	return p2p.ListenOn(host, port), nil
}

// dialKnown keeps sessions with the peers that configuration and partners' files name, and with those that were added
// while the node ran.
//
// What names a peer by hand outlives what gossip says of it: see MemberLeft.
func (n *Node) dialKnown() error {
	for _, a := range n.cfg.Federation.Peers {
		if err := n.dial(a); err != nil {
			return fmt.Errorf("%s: federation.peers: %w", n.cfg.File, err)
		}
	}
	for _, o := range n.registry.Orgs() {
		for _, a := range o.Addresses {
			if err := n.dial(a); err != nil {
				n.log.Warn("address of an organisation cannot be used", zap.String("org", o.Name), zap.String("address", a), zap.Error(err))
			}
		}
	}
	for _, a := range n.savedPeers() {
		if err := n.dial(a); err != nil {
			n.log.Warn("saved address cannot be used", zap.String("address", a), zap.Error(err))
		}
	}
	return nil
}

func (n *Node) dial(address string) error {
	t, err := p2p.ParseTarget(address)
	if err != nil {
		return err
	}
	if t.Peer == n.host.ID() {
		return nil
	}
	return n.host.Dial(t)
}

// AddPeer keeps a session with a peer from now on, also after a restart.
func (n *Node) AddPeer(address string) error {
	if err := n.dial(address); err != nil {
		return err
	}
	t, err := p2p.ParseTarget(address)
	if err != nil {
		return err
	}
	var kept []string
	for _, a := range n.savedPeers() {
		if old, err := p2p.ParseTarget(a); err == nil && old.Peer != t.Peer {
			kept = append(kept, a)
		}
	}
	return WriteAtomically(n.runFile("peers"), strings.Join(append(kept, address), "\n")+"\n")
}

func (n *Node) savedPeers() []string {
	b, err := os.ReadFile(n.runFile("peers"))
	if err != nil {
		return nil // none yet
	}
	return strings.Fields(string(b))
}

// runFile is a file about the running node: where it can be reached, whom it knows.
func (n *Node) runFile(name string) string { return filepath.Join(n.cfg.Node.DataDir, "run", name) }

// addresses are the multiaddresses at which others reach this node.
func (n *Node) addresses() []string {
	var out []string
	for _, a := range n.host.Addrs() {
		out = append(out, a.String())
	}
	return out
}

// Addresses waits until the node can be reached, and returns the multiaddresses at which.
func (n *Node) Addresses(ctx context.Context) ([]string, error) {
	select {
	case <-n.listening:
		return n.addresses(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// waitListening waits until the host listens, and remembers the port.
func (n *Node) waitListening(ctx context.Context) error {
	if n.cfg.Listen.P2P == "" {
		close(n.listening)
		return nil
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if addrs := n.host.Addrs(); len(addrs) > 0 {
			n.savePort(addrs)
			close(n.listening)
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (n *Node) savePort(addrs []ma.Multiaddr) {
	for _, a := range addrs {
		if port, err := a.ValueForProtocol(ma.P_TCP); err == nil {
			if err := WriteAtomically(n.runFile("port"), port+"\n"); err != nil {
				n.log.Warn("port not remembered", zap.Error(err))
			}
			return
		}
	}
}

// PeerUp is called when a peer's hello was accepted.
func (w network) PeerUp(p p2p.Peer) {
	w.n.streams.peerUp(p.ID, p.Member.Org, p.Member.Node)
	w.n.watchers.changed(w.n.streams, p.Member.Org, p.Member.Node)
	if p.Member.Org == w.n.cfg.Node.Org {
		w.n.members.Seed(p.ID)
	}
	w.n.queries.peerUp(p)
}

// PeerDown is called when a session ended or the peer is silent. Of one that is only silent the data streams still stand,
// and go on if it is heard again.
func (w network) PeerDown(p p2p.Peer, cause p2p.Cause) {
	w.n.streams.peerDown(p.ID)
	w.n.watchers.changed(w.n.streams, p.Member.Org, p.Member.Node)
	if cause.Kind != p2p.CauseSilent && cause.Kind != p2p.CauseDeaf {
		w.n.streams.sessionEnded(p.ID)
		w.n.link.PeerDown(p)
		w.n.queries.sessionEnded(p.ID)
	}
}

// Beat says how the streams fare that the peer subscribes to.
func (w network) Beat(p p2p.Peer) []wire.StreamStatus { return w.n.link.Beat(p) }

// Heard takes what a peer says of its streams: what is read from where is decided by it.
func (w network) Heard(p p2p.Peer, streams []wire.StreamStatus) {
	w.n.streams.heard(p.ID, streams)
	w.n.watchers.changed(w.n.streams, p.Member.Org, p.Member.Node)
}

// Data reads a data stream of one of our subscriptions.
func (w network) Data(ctx context.Context, p p2p.Peer, _ uint64, s *p2p.Stream) {
	w.n.link.Data(ctx, p, s)
}

// Control takes a control message.
func (w network) Control(p p2p.Peer, m wire.Message) {
	if ask, ok := m.(*wire.Permission); ok {
		w.n.queries.permission(p, ask)
		return
	}
	if !w.n.link.Control(p, m) {
		w.n.queries.control(p, m)
	}
}

// MemberJoined keeps a session with another node of the organisation.
func (w network) MemberJoined(m member.Node) { w.MemberUpdated(m) }

// MemberUpdated dials a node at its present addresses.
func (w network) MemberUpdated(m member.Node) {
	t := p2p.Target{Peer: m.Peer}
	for _, a := range m.Addrs {
		if x, err := p2p.ParseTarget(a); err == nil {
			t.Addrs = append(t.Addrs, x.Addrs...)
		}
	}
	if err := w.n.host.Dial(t); err != nil {
		w.n.log.Debug("member not dialled", zap.String("name", m.Name), zap.Error(err))
	}
}

// MemberLeft stops dialling a node that has gone, unless somebody has named it. Gossip says so of a node that is cut off,
// too, on both sides: then those that were named bring the two together again, and gossip does the rest.
func (w network) MemberLeft(m member.Node) {
	if !w.n.named(m.Peer) {
		w.n.host.Undial(m.Peer)
	}
}

// named reports whether configuration, a partner's file or a person has named a peer.
func (n *Node) named(p peer.ID) bool {
	addresses := slices.Concat(n.cfg.Federation.Peers, n.savedPeers())
	for _, o := range n.registry.Orgs() {
		addresses = append(addresses, o.Addresses...)
	}
	return slices.ContainsFunc(addresses, func(a string) bool {
		t, err := p2p.ParseTarget(a)
		return err == nil && t.Peer == p
	})
}

// isQueryStream reports whether a stream produced here belongs to a query rather than to [streams].
func (s *streams) isQueryStream(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.here[name].permit != nil
}

// peersUp counts the peers that are up.
func (s *streams) peersUp() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.peers)
}
