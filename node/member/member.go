package member

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"

	"fednode/node/trust"
)

// Config is how eagerly members are watched.
type Config struct {
	WAN   bool          // the organisation's nodes are far apart: probe slower, suspect later
	Probe time.Duration // between probes; 0: 1 s, 5 s over a WAN
	Retry time.Duration // between tries to reach seeds that are not members; 0: 5 s
}

// Network is what membership needs of the host.
type Network interface {
	Libp2p() host.Host
	// Member says who a connected peer is.
	Member(p peer.ID) (trust.Member, bool)
}

// Self is what others learn about this node.
type Self struct {
	Org   string
	Name  string
	Addrs func() []string // multiaddresses to dial; asked when they are gossiped
	// Labels say what kind of node it is; queries are placed by them.
	Labels map[string]string
}

// Node is a member.
type Node struct {
	Peer  peer.ID
	Name  string
	Addrs []string
	// Labels of the node; nil if they are not known, because they have no room in what is gossiped.
	Labels map[string]string
}

func (n Node) equal(o Node) bool {
	return n.Peer == o.Peer && n.Name == o.Name && slices.Equal(n.Addrs, o.Addrs) && (n.Labels == nil) == (o.Labels == nil) && maps.Equal(n.Labels, o.Labels)
}

// Handler hears of changes; calls come one after the other. What changes faster than it listens is told as the sum.
type Handler interface {
	MemberJoined(n Node)
	MemberUpdated(n Node)
	MemberLeft(n Node)
}

// Membership takes part in the organisation's gossip.
type Membership struct {
	cfg     Config
	net     Network
	self    Self
	id      peer.ID
	handler Handler
	log     *zap.Logger
	changed chan struct{} // capacity 1: look at the members again
	seeded  chan struct{} // capacity 1: there are new seeds to ask

	mu    sync.Mutex
	list  *memberlist.Memberlist // nil unless running
	seeds map[peer.ID]bool
	alive map[peer.ID]Node // as gossiped, this node among them
	known map[peer.ID]Node // as told to the handler
}

// New makes a membership; Run starts it.
func New(cfg Config, net Network, self Self, handler Handler, log *zap.Logger) *Membership {
	if cfg.Retry == 0 {
		cfg.Retry = 5 * time.Second
	}
	return &Membership{cfg: cfg, net: net, self: self, id: net.Libp2p().ID(), handler: handler, log: log,
		changed: make(chan struct{}, 1), seeded: make(chan struct{}, 1), seeds: make(map[peer.ID]bool), alive: make(map[peer.ID]Node), known: make(map[peer.ID]Node)}
}

// Seed names nodes of the organisation to ask for the others. They are asked once they are connected.
func (m *Membership) Seed(ids ...peer.ID) {
	m.mu.Lock()
	for _, id := range ids {
		if id != m.id {
			m.seeds[id] = true
		}
	}
	m.mu.Unlock()
	select {
	case m.seeded <- struct{}{}:
	default:
	}
}

// Members are the nodes that are alive, this one not among them, by name and id.
func (m *Membership) Members() []Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.known), func(a, b Node) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(string(a.Peer), string(b.Peer))
	})
}

// Strain says how badly this node itself reaches the others, 0 is well. A node that sees most others fail, with a high
// strain, should suspect itself first.
func (m *Membership) Strain() int {
	m.mu.Lock()
	list := m.list
	m.mu.Unlock()
	if list == nil {
		return 0
	}
	return list.GetHealthScore()
}

// Run gossips until ctx ends, then says goodbye. It can be called once.
func (m *Membership) Run(ctx context.Context) error {
	t := newTransport(m.net, m.self.Org, m.log)
	t.listen()
	list, err := memberlist.Create(m.listConfig(t))
	if err != nil {
		return errors.Join(fmt.Errorf("member: %w", err), t.Shutdown())
	}
	m.setList(list)
	m.keep(ctx, list)
	m.setList(nil)
	const farewell = 500 * time.Millisecond
	if err := list.Leave(farewell); err != nil {
		m.log.Debug("leaving the organisation's gossip", zap.Error(err))
	}
	if err := list.Shutdown(); err != nil { // shuts the transport down, too
		return fmt.Errorf("member: %w", err)
	}
	return nil
}

func (m *Membership) setList(l *memberlist.Memberlist) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = l
}

func (m *Membership) listConfig(t *transport) *memberlist.Config {
	cfg := memberlist.DefaultLANConfig()
	if m.cfg.WAN {
		cfg = memberlist.DefaultWANConfig()
	}
	if m.cfg.Probe > 0 {
		cfg.ProbeInterval = m.cfg.Probe
		cfg.ProbeTimeout = m.cfg.Probe / 2
		cfg.GossipInterval = min(cfg.GossipInterval, m.cfg.Probe/2)
	}
	cfg.Name = m.id.String()
	cfg.RequireNodeNames = true
	cfg.Transport = t
	cfg.Delegate = (*delegate)(m)
	cfg.Events = (*delegate)(m)
	cfg.Alive = (*delegate)(m)
	cfg.LogOutput = nil
	cfg.Logger = log.New(&logWriter{log: m.log}, "", 0)
	return cfg
}

// keep tells of changes and asks the seeds, until ctx ends.
func (m *Membership) keep(ctx context.Context, list *memberlist.Memberlist) {
	retry := time.NewTicker(m.cfg.Retry)
	defer retry.Stop()
	m.ask(list)
	for {
		select {
		case <-m.changed:
			m.tell()
		case <-m.seeded:
			m.ask(list)
		case <-retry.C:
			m.ask(list)
		case <-ctx.Done():
			return
		}
	}
}

// ask joins by those seeds that are connected and not yet members: at the start, and after a partition that lasted so
// long that both sides forgot each other.
func (m *Membership) ask(list *memberlist.Memberlist) {
	m.mu.Lock()
	var at []string
	for id := range m.seeds {
		_, alive := m.known[id]
		if !alive && m.net.Libp2p().Network().Connectedness(id) == network.Connected {
			at = append(at, id.String()+"/"+address(id))
		}
	}
	m.mu.Unlock()
	if len(at) == 0 {
		return
	}
	slices.Sort(at)
	if _, err := list.Join(at); err != nil {
		m.log.Debug("joining the organisation's gossip", zap.Error(err))
	}
}

// tell compares what is with what was told.
func (m *Membership) tell() {
	m.mu.Lock()
	now := maps.Clone(m.alive)
	delete(now, m.id)
	before := m.known
	m.known = now
	m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if _, ok := now[id]; !ok {
			m.handler.MemberLeft(before[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		switch old, ok := before[id]; {
		case !ok:
			m.handler.MemberJoined(now[id])
		case !old.equal(now[id]):
			m.handler.MemberUpdated(now[id])
		}
	}
}

// Refresh gossips our addresses again after they changed.
func (m *Membership) Refresh(timeout time.Duration) error {
	m.mu.Lock()
	list := m.list
	m.mu.Unlock()
	if list == nil {
		return nil
	}
	if err := list.UpdateNode(timeout); err != nil {
		return fmt.Errorf("member: %w", err)
	}
	return nil
}
