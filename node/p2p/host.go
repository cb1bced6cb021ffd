package p2p

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/zap"

	"fednode/node/p2p/admission"
	"fednode/node/trust"
	"fednode/node/wire"
)

// The protocols.
const (
	ControlProtocol protocol.ID = "/fednode/control/1"
	DataProtocol    protocol.ID = "/fednode/data/1"
)

// recheckEvery is how often certificates in use are looked at again.
const recheckEvery = time.Minute

// Identity is who we are to others.
type Identity struct {
	Key         *trust.SecretKey
	Certificate *trust.Signed
	Incarnation uint64 // greater at each start of the node
}

// Host is the node on the network. Make it with New, run it with Run.
type Host struct {
	// fixed after New
	cfg      Config
	handler  Handler
	log      *zap.Logger
	self     peer.ID
	name     string // self as text
	registry *trust.Registry
	identity Identity
	door     *admission.Door
	net      host.Host
	quotas   *quotas
	lines    lines
	began    time.Time // of the clock that silences are measured and heartbeats stamped by

	tasks sync.WaitGroup // links and data handlers

	mu    sync.Mutex
	ctx   context.Context // of Run; nil before and after
	links map[peer.ID]*link
}

// New opens the host's libp2p part without listening. Close it with Close if Run is not called.
func New(cfg Config, id Identity, registry *trust.Registry, handler Handler, log *zap.Logger) (*Host, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("p2p: %w", err)
	}
	door, err := admission.New(admission.Config{Registry: registry, Certificate: id.Certificate, Now: time.Now,
		PeersPerOrg: cfg.Limits.PeersPerPartner, Timeout: cfg.HelloTimeout})
	if err != nil {
		return nil, err
	}
	net, err := openLibp2p(cfg, id.Key, door)
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, handler: handler, log: log, self: net.ID(), name: net.ID().String(), registry: registry, identity: id, door: door, net: net,
		quotas: newQuotas(cfg.Limits, registry.Own()), began: time.Now(), lines: lines{own: registry.Own()}, links: make(map[peer.ID]*link)}
	return h, nil
}

// ID is our own peer id.
func (h *Host) ID() peer.ID { return h.self }

// Libp2p gives other protocols of the node (membership) the host below; only admitted peers are connected to it.
func (h *Host) Libp2p() host.Host { return h.net }

// Member says who a connected peer is.
func (h *Host) Member(p peer.ID) (trust.Member, bool) { return h.door.Member(p) }

// Addrs are the addresses that others can dial, each ending in /p2p/ID: what is announced, else where we listen.
func (h *Host) Addrs() []ma.Multiaddr {
	if len(h.net.Addrs()) == 0 {
		return nil
	}
	addrs, err := peer.AddrInfoToP2pAddrs(&peer.AddrInfo{ID: h.self, Addrs: h.net.Addrs()})
	if err != nil {
		return nil // our own id is always encodable
	}
	return addrs
}

// Run listens and serves until ctx ends or a listen address cannot be had, then says goodbye to all peers and returns
// when every goroutine has ended. It can be called once.
func (h *Host) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.start(ctx)
	err := h.listen()
	if err == nil {
		h.keepChecking(ctx)
	}
	cancel()
	h.stop()
	return err
}

func (h *Host) start(ctx context.Context) {
	h.mu.Lock()
	h.ctx = ctx
	for _, l := range h.links { // dialled before Run
		h.tasks.Go(func() { l.run(ctx) })
	}
	h.mu.Unlock()
	h.net.SetStreamHandler(ControlProtocol, h.acceptControl)
	h.net.SetStreamHandler(DataProtocol, h.acceptData)
	h.net.SetStreamHandler(EchoProtocol, h.answerEcho)
	h.net.SetStreamHandler(CertificateProtocol, h.acceptCertificate)
	h.net.Network().Notify(&network.NotifyBundle{ConnectedF: h.connected, DisconnectedF: h.disconnected})
}

func (h *Host) stop() {
	h.mu.Lock()
	h.ctx = nil
	h.mu.Unlock()
	for _, p := range []protocol.ID{ControlProtocol, DataProtocol, EchoProtocol, CertificateProtocol} {
		h.net.RemoveStreamHandler(p)
	}
	h.tasks.Wait()
	if err := h.net.Close(); err != nil {
		h.log.Warn("closing the network", zap.Error(err))
	}
}

// Close frees a host that never ran.
func (h *Host) Close() error { return h.net.Close() }

// keepChecking looks at the certificates of connected peers from time to time, until ctx ends.
func (h *Host) keepChecking(ctx context.Context) {
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			h.Recheck()
		case <-ctx.Done():
			return
		}
	}
}

// Recheck verifies the certificates of all connected peers again and disconnects those that are no longer admitted.
// Call it after trust or revocations changed.
func (h *Host) Recheck() {
	for p, err := range h.door.Recheck() {
		h.log.Warn("peer is no longer admitted", zap.Stringer("peer", p), zap.Error(err))
		if l := h.find(p); l == nil || !l.end(Cause{Kind: CauseUntrusted, Err: err}) {
			h.drop(p) // with a session the link does it, after the goodbye
		}
	}
}

// drop closes all connections of a peer.
func (h *Host) drop(p peer.ID) {
	if err := h.net.Network().ClosePeer(p); err != nil {
		h.log.Debug("closing a peer's connections", zap.Stringer("peer", p), zap.Error(err))
	}
}

// SetCertificate takes our renewed certificate, for new connections and for the peers that are up.
func (h *Host) SetCertificate(s *trust.Signed) error {
	if err := h.door.SetCertificate(s); err != nil {
		return err
	}
	b, err := s.Marshal()
	if err != nil {
		return err
	}
	h.showEverybody(b)
	return nil
}

// Dial keeps a session with t from now on. Its addresses, new or not, are tried at once, whatever the pause was.
func (h *Host) Dial(t Target) error {
	if t.Peer == h.self {
		return ErrSelf
	}
	h.withLink(t.Peer, func(l *link) { l.aim(t.Addrs) })
	return nil
}

// Undial stops dialling a peer; a session that is up goes on until it ends.
func (h *Host) Undial(p peer.ID) {
	if l := h.find(p); l != nil {
		l.aim(nil)
	}
}

// Send queues a control message. Messages arrive in order; what is queued when the session ends is lost. ErrNotUp,
// ErrReserved for the session's own kinds, ErrQueueFull if the peer does not take them fast enough.
func (h *Host) Send(p peer.ID, m wire.Message) error {
	switch m.Kind() {
	case wire.KindHello, wire.KindHeartbeat, wire.KindCredit, wire.KindGoodbye, wire.KindError, wire.KindAttach:
		return fmt.Errorf("%w: %s", ErrReserved, m.Kind())
	}
	l := h.find(p)
	if l == nil {
		return ErrNotUp
	}
	return l.send(m)
}

// OpenData opens the data stream of a subscription that the peer made here. ErrTaken if it has one.
func (h *Host) OpenData(ctx context.Context, p peer.ID, subscription uint64) (*Stream, error) {
	l := h.find(p)
	if l == nil {
		return nil, ErrNotUp
	}
	s := l.current()
	if s == nil {
		return nil, ErrNotUp
	}
	return s.openData(ctx, subscription)
}

func (h *Host) find(p peer.ID) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.links[p]
}

func (h *Host) all() []*link {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*link, 0, len(h.links))
	for _, l := range h.links {
		list = append(list, l)
	}
	return list
}

// away counts the peers with which there is no session.
func (h *Host) away() int {
	n := 0
	for _, l := range h.all() {
		if l.current() == nil {
			n++
		}
	}
	return n
}

// withLink does something to the peer's link, which is made and started if there is none. It holds mu meanwhile, so that
// the link cannot retire between being found and being told.
func (h *Host) withLink(p peer.ID, do func(*link)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.links[p]
	if l != nil {
		do(l)
		return
	}
	l = newLink(h, p)
	h.links[p] = l
	do(l)
	if ctx := h.ctx; ctx != nil {
		h.tasks.Go(func() { l.run(ctx) })
	}
}

// retire removes a link that has nothing left to do; false if it got something in the meantime.
func (h *Host) retire(l *link) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !l.idle() {
		return false
	}
	delete(h.links, l.id)
	return true
}

// running says whether streams and connections are still taken.
func (h *Host) running() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ctx != nil
}

// enter counts a handler that libp2p called, so that stop waits for it. ctx is nil once the host stops; done must be
// called in any case.
func (h *Host) enter() (ctx context.Context, done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx == nil {
		return nil, func() {}
	}
	h.tasks.Add(1) // under mu: stop sets ctx to nil before it waits
	return h.ctx, h.tasks.Done
}

func (h *Host) connected(_ network.Network, c network.Conn) {
	if h.running() {
		h.withLink(c.RemotePeer(), func(l *link) { l.joined(c.Stat().Direction) })
	}
}

func (h *Host) disconnected(n network.Network, c network.Conn) {
	p := c.RemotePeer()
	if n.Connectedness(p) == network.NotConnected {
		h.door.Forget(p)
	}
	if l := h.find(p); l != nil {
		l.nudge()
	}
}

func (h *Host) acceptControl(s network.Stream) {
	p := s.Conn().RemotePeer()
	if !h.running() || opens(h.self, p) {
		// That side is ours to open: a peer that opens it all the same does not follow the protocol.
		resetWith(s, CodeProtocol)
		return
	}
	h.withLink(p, func(l *link) { l.offer(s) })
}

// opens says whether self is the one of the two that opens the control stream.
func opens(self, other peer.ID) bool { return self < other }

func resetWith(s network.MuxedStream, code network.StreamErrorCode) {
	// A stream that cannot be reset is gone already.
	_ = s.ResetWithError(code)
}
