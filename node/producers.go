package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	rtt  func(peer.ID) time.Duration
	list *listeners
	// telling orders news: without it what a node was like could be told after what it is like now, and stand for as long as
	// that node says nothing more. It is taken before all other locks of the node, and held over notes, which do not block.
	telling sync.Mutex
}

// newsOf describes a producer as it stands; for any node of an organisation the one that is furthest.
func (w *watchers) newsOf(s *streams, producer string) flow.News {
	n := flow.News{Name: producer, Streams: make(map[string]dcaa.StreamStatus)}
	org, node, _ := strings.Cut(w.self, "/")
	if means(producer, org, node) {
		n.Up = true
		for _, st := range s.all() {
			n.Streams[st.Name()] = st.Beat()
		}
	}
	for _, id := range s.named(producer) {
		n.Up = true
		n.RTT = max(n.RTT, w.rtt(id))
		for _, st := range s.saidBy(id) {
			merge(n.Streams, st)
		}
	}
	return n
}

// saidBy returns what the last heartbeat of a peer said of its streams.
func (s *streams) saidBy(id peer.ID) []wire.StreamStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remote[id]
}

// merge notes a stream; if several nodes give it, as that of the one that is furthest.
func merge(into map[string]dcaa.StreamStatus, s wire.StreamStatus) {
	said := dcaa.StreamStatus{State: dcaa.State(s.State), Boundary: s.Boundary, Holding: s.Holding, Generation: s.Generation, LastID: s.LastID}
	if have, ok := into[s.Name]; ok && cmp.Compare(have.Boundary, said.Boundary) >= 0 {
		return
	}
	into[s.Name] = said
}

// concerning returns the names, among those that anybody watches, that mean a node.
func (w *watchers) concerning(org, node string) []string {
	watched := w.list.names()
	maps.DeleteFunc(watched, func(name string, _ bool) bool { return !means(name, org, node) })
	return slices.Collect(maps.Keys(watched))
}

// changed tells everybody who watches a node that there is news of it.
func (w *watchers) changed(s *streams, org, node string) {
	names := w.concerning(org, node)
	w.telling.Lock()
	defer w.telling.Unlock()
	for _, name := range names {
		w.list.tell(w.newsOf(s, name))
	}
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

// roundTrip returns the measured way to a peer and back, 0 if it is not known.
func (n *Node) roundTrip(id peer.ID) time.Duration { return n.host.RoundTrip(id) }

// tell sends a message about permission to another replica of a fragment, if it is up.
func (n *Node) tell(to, name string, m dcaa.PermissionMessage) {
	msg := &wire.Permission{Fragment: name, Granted: m.Kind == dcaa.PermissionYes, Asker: m.Asker, AskerIncarnation: m.AskerIncarnation, Number: m.Number, Missed: m.Missed}
	for _, id := range n.streams.named(to) {
		if err := n.host.Send(id, msg); err != nil {
			n.log.Debug("permission message not sent", zap.String("to", to), zap.Error(err))
		}
	}
}
