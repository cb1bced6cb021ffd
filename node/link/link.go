package link

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"

	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/p2p"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// Network is what a link needs of the host.
type Network interface {
	Send(p peer.ID, m wire.Message) error
	OpenData(ctx context.Context, p peer.ID, subscription uint64) (*p2p.Stream, error)
}

// Local finds the streams that this node produces.
type Local interface {
	// Find returns a stream by its full name, nil if it is not produced here.
	Find(stream string) flow.Stream
	// Permit says whether a node of an organisation may have a stream: nil and true for one of its own, or the export that
	// it leaves through; a *export.DeniedError otherwise.
	Permit(stream, org string) (*export.Export, error)
	// Shared returns the names of streams of which a node is told how they fare although it may not subscribe to them; the
	// version changes whenever anything that Find and Shared say does.
	Shared(org, node string) []string
	Version() uint64
}

// Link serves and opens streams over the sessions of one node.
type Link struct {
	// Fixed after New.
	net   Network
	local Local
	log   *zap.Logger

	tasks sync.WaitGroup
	// refusals has a lock of its own.
	refusals refusals

	mu      sync.Mutex
	ctx     context.Context // of Run; nil before and after
	next    uint64          // number of the next subscription that we make
	ours    map[uint64]*remoteCursor
	serving map[servingKey]*serving
	paces   map[paceKey]*pace
	// served counts changes of serving; beats are what each peer is told of.
	served uint64
	beats  map[peer.ID]*beat
}

// serving is a subscription of a peer while it is served.
type serving struct {
	stream flow.Stream
	cancel context.CancelFunc
}

// servingKey names a subscription of a peer.
type servingKey struct {
	peer   peer.ID
	number uint64
}

// New returns a link. The network is set with Attach, since each needs the other.
func New(local Local, log *zap.Logger) *Link {
	return &Link{local: local, log: log, next: 1, ours: make(map[uint64]*remoteCursor), serving: make(map[servingKey]*serving), paces: make(map[paceKey]*pace), beats: make(map[peer.ID]*beat)}
}

// Attach gives the link its network, before Run.
func (l *Link) Attach(net Network) { l.net = net }

// Run lets the link serve until ctx ends, and returns when every subscription has ended.
func (l *Link) Run(ctx context.Context) {
	l.mu.Lock()
	l.ctx = ctx
	l.mu.Unlock()
	<-ctx.Done()
	l.mu.Lock()
	l.ctx = nil
	for _, s := range l.serving {
		s.cancel()
	}
	l.mu.Unlock()
	l.tasks.Wait()
}

// Control takes a message about streams; handled is false for one of another kind. It does not block.
func (l *Link) Control(p p2p.Peer, m wire.Message) (handled bool) {
	switch m := m.(type) {
	case *wire.Subscribe:
		l.subscribe(p, m)
	case *wire.Unsubscribe:
		l.stopServing(servingKey{p.ID, m.Subscription})
	case *wire.Ack:
		l.acknowledged(p, m)
	case *wire.Subscribed:
		l.answered(p, m.Subscription, nil)
	case *wire.Refused:
		l.answered(p, m.Subscription, m)
	default:
		return false
	}
	return true
}

// PeerDown ends everything that ran over a session.
func (l *Link) PeerDown(p p2p.Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.beats, p.ID)
	for k, s := range l.serving {
		if k.peer == p.ID {
			s.cancel()
		}
	}
	for _, c := range l.ours {
		if c.peer == p.ID {
			c.fail(errSession)
		}
	}
}

// Ack sends an acknowledgement to a peer; one that is lost is made up for by the next, or by the next subscription.
func (l *Link) Ack(to peer.ID, stream, subscriber string, p tuple.Position) {
	m := &wire.Ack{Stream: stream, Generation: p.Generation, ID: p.ID, Time: p.Time, Level: wire.Stored, Subscriber: subscriber}
	if err := l.net.Send(to, m); err != nil {
		l.log.Debug("acknowledgement not sent", zap.String("stream", stream), zap.Error(err))
	}
}

// answerWithin is how long a subscription may stay unanswered before it is asked for anew.
const answerWithin = 5 * time.Second
