package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/fragment"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// anyNode is the node of a producer's name that stands for whichever node of the organisation gives a stream.
const anyNode = "*"

// named returns the peers that are up and that a producer's name means, best first.
func (s *streams) named(producer string) []peer.ID {
	org, node, _ := strings.Cut(producer, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []peer.ID
	for id, p := range s.peers {
		if p.org == org && (node == anyNode || p.node == node) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// means reports whether a producer's name means a node.
func means(producer, org, node string) bool {
	return producer == org+"/"+node || producer == org+"/"+anyNode
}

// fragmentNetwork is how the fragments of one organisation's queries reach other nodes.
type fragmentNetwork struct {
	n   *Node
	org string
}

var _ fragment.Network = fragmentNetwork{}

// OpenFrom opens a stream at one producer.
func (w fragmentNetwork) OpenFrom(ctx context.Context, producer, stream string, sub flow.Subscriber) (flow.Cursor, error) {
	s := w.n.streams
	if means(producer, w.n.cfg.Node.Org, w.n.cfg.Node.Name) {
		if st := s.Find(stream); st != nil {
			return s.openHere(w.org, st, sub)
		}
	}
	peers := s.named(producer)
	if len(peers) == 0 {
		return nil, fmt.Errorf("stream %s: node %s is not up", stream, producer)
	}
	return s.openAt(ctx, peers, w.org, stream, sub)
}

// Ack passes on an acknowledgement to every producer.
func (w fragmentNetwork) Ack(stream, subscriber string, producers []string, p tuple.Position) {
	s := w.n.streams
	for _, producer := range producers {
		if means(producer, w.n.cfg.Node.Org, w.n.cfg.Node.Name) {
			if st := s.Find(stream); st != nil {
				st.Ack(subscriber, p)
			}
		}
		for _, id := range s.named(producer) {
			s.link.Ack(id, stream, subscriber, p)
		}
	}
}

// Watch calls note with news of nodes, at once with what is known, until the returned stop has returned.
func (w fragmentNetwork) Watch(names []string, note func(flow.News)) (stop func()) {
	return w.n.watchers.add(w.n.streams, names, note)
}

// Tell sends a message about permission to a replica of the same fragment.
func (w fragmentNetwork) Tell(to, fragment string, m dcaa.PermissionMessage) {
	w.n.tell(to, fragment, m)
}

// watchers spread news of nodes to the fragments and clients that asked for them.
type watchers struct {
	self string // "org/node" of this node
	way  func(peer.ID) dcaa.Way
	list *listeners
	// telling orders news: without it what a node was like could be told after what it is like now, and stand for as long as
	// that node says nothing more. It is taken before all other locks of the node, and held over notes, which do not block.
	telling sync.Mutex
}

// newsOf describes a producer as it stands; for any node of an organisation the one that is furthest.
func (w *watchers) newsOf(s *streams, producer string) flow.News {
	n := flow.News{Name: producer}
	org, node, _ := strings.Cut(w.self, "/")
	here := means(producer, org, node)
	peers := s.named(producer)
	said := make([][]wire.StreamStatus, 0, len(peers))
	for _, id := range peers {
		if way := w.way(id); way.RoundTrip >= n.Way.RoundTrip {
			n.Way = way
		}
		said = append(said, s.saidBy(id))
	}
	n.Up = here || len(peers) > 0
	n.Life = s.lifeOf(producer)
	n.Said = func(stream string) (furthest dcaa.StreamStatus, ok bool) {
		if here {
			if st := s.Find(stream); st != nil {
				furthest, ok = st.Beat(), true
			}
		}
		for _, list := range said {
			if st, there := find(list, stream); there && (!ok || st.Boundary > furthest.Boundary) {
				furthest, ok = st, true
			}
		}
		return furthest, ok
	}
	return n
}

// saidBy returns what the last heartbeat of a peer said of its streams, sorted by name; it is not to be changed.
func (s *streams) saidBy(id peer.ID) []wire.StreamStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remote[id]
}

func byName(a, b wire.StreamStatus) int { return strings.Compare(a.Name, b.Name) }

// find returns what a sorted heartbeat says of a stream.
func find(said []wire.StreamStatus, stream string) (st dcaa.StreamStatus, ok bool) {
	n, ok := slices.BinarySearchFunc(said, stream, func(s wire.StreamStatus, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return st, false
	}
	s := &said[n]
	return dcaa.StreamStatus{State: dcaa.State(s.State), Boundary: s.Boundary, Holding: s.Holding, Generation: s.Generation, LastID: s.LastID, Sum: s.Sum, Begins: s.Begins, Above: s.Above}, true
}

// changed tells everybody who watches a node that there is news of it.
func (w *watchers) changed(s *streams, org, node string) {
	for _, name := range [...]string{org + "/" + node, org + "/" + anyNode} {
		w.tell(s, name)
	}
}

// tell tells everybody who watches a producer, by its name, that there is news of it.
func (w *watchers) tell(s *streams, name string) {
	if !w.list.heard(name) {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.list.tell(w.newsOf(s, name))
}

func (w *watchers) add(s *streams, names []string, note func(flow.News)) (stop func()) {
	w.telling.Lock()
	defer w.telling.Unlock()
	stop = w.list.add(names, note)
	for _, name := range names {
		note(w.newsOf(s, name))
	}
	return stop
}

// beat tells of this node's own streams once a heartbeat, until ctx ends.
func (n *Node) beat(ctx context.Context) {
	tick := time.NewTicker(n.cfg.Availability.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.watchers.changed(n.streams, n.cfg.Node.Org, n.cfg.Node.Name)
		case <-ctx.Done():
			return
		}
	}
}

// way returns what is known of the way from a peer.
func (n *Node) way(id peer.ID) dcaa.Way { return n.host.Way(id) }

// tell sends a message about permission to another replica of a fragment, if it is up.
func (n *Node) tell(to, name string, m dcaa.PermissionMessage) {
	msg := &wire.Permission{Fragment: name, Granted: m.Kind == dcaa.PermissionYes, Asker: m.Asker, AskerIncarnation: m.AskerIncarnation, Number: m.Number, Missed: m.Missed}
	for _, id := range n.streams.named(to) {
		if err := n.host.Send(id, msg); err != nil {
			n.log.Debug("permission message not sent", zap.String("to", to), zap.Error(err))
		}
	}
}
