package member

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"fednode/node/p2p"
)

// oneWay is a network over which the gossip of others does not arrive while it is cut; what is sent over it does.
type oneWay struct {
	*p2p.Host
	mu     sync.Mutex
	healed chan struct{} // closed while nothing is cut
}

func newOneWay(h *p2p.Host) *oneWay {
	w := &oneWay{Host: h, healed: make(chan struct{})}
	close(w.healed)
	return w
}

func (w *oneWay) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.healed = make(chan struct{})
}

func (w *oneWay) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.healed:
	default:
		close(w.healed)
	}
}

func (w *oneWay) open() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.healed
}

func (w *oneWay) Libp2p() host.Host { return deafHost{w.Host.Libp2p(), w} }

type deafHost struct {
	host.Host
	w *oneWay
}

func (h deafHost) SetStreamHandler(p protocol.ID, serve network.StreamHandler) {
	h.Host.SetStreamHandler(p, func(s network.Stream) { serve(heldStream{s, h.w}) })
}

func (h deafHost) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return unansweredStream{s, h.w}, nil
}

// unansweredStream is one on which an answer is waited for.
type unansweredStream struct {
	network.Stream
	w *oneWay
}

// Read gives up while the way is cut.
func (s unansweredStream) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	select {
	case <-s.w.open():
		return n, err
	default:
		return 0, os.ErrDeadlineExceeded
	}
}

// heldStream brings what others send.
type heldStream struct {
	network.Stream
	w *oneWay
}

// Read waits for the way to heal, as if the bytes were still on it.
func (s heldStream) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	<-s.w.open()
	return n, err
}

// A node that sends and hears nothing takes the others for dead, and says so; it knows that the fault is likely its own.
// Healed, all know each other again, whoever believed it.
func TestHalfCutNode(t *testing.T) {
	org, reg := found(t, "north")
	var nodes []*node
	var way *oneWay
	const half = 3
	for i := range 5 {
		over := func(h *p2p.Host) Network { return h }
		if i == half {
			over = func(h *p2p.Host) Network { way = newOneWay(h); return way }
		}
		nodes = append(nodes, startOver(t, org, reg, string(rune('a'+i)), zap.NewNop(), over))
		if i > 0 {
			dial(t, nodes[i], nodes[0])
		}
	}
	t.Cleanup(way.heal) // or its streams do not end
	complete := func() bool {
		return !slices.ContainsFunc(nodes, func(n *node) bool { return len(n.names()) < len(nodes)-1 })
	}
	require.Eventually(t, complete, patient, 10*time.Millisecond, "all know each other")
	deaf := nodes[half]
	way.cut()
	require.Eventually(t, func() bool { return len(deaf.names()) < len(nodes)/2 }, patient, 10*time.Millisecond, "it takes the others for dead")
	require.Greater(t, deaf.member.Strain(), 1, "it knows that it is itself that hears badly")
	way.heal()
	require.Eventually(t, complete, patient, 10*time.Millisecond, "all know each other again")
}
