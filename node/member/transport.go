package member

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"go.uber.org/zap"
)

// The protocols. A packet is u16 length (big-endian) and its bytes.
const (
	packetProtocol protocol.ID = "/fednode/member-packet/1"
	streamProtocol protocol.ID = "/fednode/member-stream/1"
)

// port stands where memberlist wants a port; it means nothing.
const port = 1

// codeRefused resets streams of peers that are not of our organisation, or that come too fast.
const codeRefused network.StreamErrorCode = 1

// transport carries memberlist's packets and streams over libp2p.
type transport struct {
	net Network
	org string
	log *zap.Logger

	packets chan *memberlist.Packet // full: dropped, as packets may be
	streams chan net.Conn           // full: reset; the other side tries again
	done    chan struct{}           // closed by Shutdown
	tasks   sync.WaitGroup          // senders and receivers

	mu      sync.Mutex
	closed  bool
	senders map[peer.ID]*sender
}

var _ memberlist.NodeAwareTransport = (*transport)(nil)

func newTransport(n Network, org string, log *zap.Logger) *transport {
	return &transport{net: n, org: org, log: log, packets: make(chan *memberlist.Packet, 256),
		streams: make(chan net.Conn, 16), done: make(chan struct{}), senders: make(map[peer.ID]*sender)}
}

func (t *transport) listen() {
	t.net.Libp2p().SetStreamHandler(packetProtocol, t.acceptPackets)
	t.net.Libp2p().SetStreamHandler(streamProtocol, t.acceptStream)
}

// ip is the address that stands for a peer: unique enough, private, and never dialled.
func ip(id peer.ID) net.IP {
	h := sha256.Sum256([]byte(id))
	return append(net.IP{0xfd}, h[:net.IPv6len-1]...)
}

func address(id peer.ID) string { return net.JoinHostPort(ip(id).String(), strconv.Itoa(port)) }

func netAddr(id peer.ID) net.Addr { return &net.TCPAddr{IP: ip(id), Port: port} }

// FinalAdvertiseAddr returns our stand-in address.
func (t *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return ip(t.net.Libp2p().ID()), port, nil
}

// ours says whether a peer may take part: connected with a certificate of our organisation.
func (t *transport) ours(p peer.ID) bool {
	m, ok := t.net.Member(p)
	return ok && m.Org == t.org
}

var errNameless = errors.New("member: an address without the node's name cannot be reached")

// WriteTo is not used: nodes are addressed by name.
func (t *transport) WriteTo([]byte, string) (time.Time, error) { return time.Time{}, errNameless }

// DialTimeout is not used: nodes are addressed by name.
func (t *transport) DialTimeout(string, time.Duration) (net.Conn, error) { return nil, errNameless }

// WriteToAddress sends a packet, best effort.
func (t *transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	id, err := peer.Decode(a.Name)
	if err != nil {
		return time.Time{}, fmt.Errorf("member: node %.100q: %w", a.Name, err)
	}
	if len(b) > maxPacket {
		return time.Time{}, fmt.Errorf("member: a packet of %d bytes, at most %d", len(b), maxPacket)
	}
	if s := t.sender(id); s != nil {
		s.offer(b)
	}
	return time.Now(), nil
}

// DialAddressTimeout opens a stream to a node.
func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	id, err := peer.Decode(a.Name)
	if err != nil {
		return nil, fmt.Errorf("member: node %.100q: %w", a.Name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	s, err := t.open(ctx, id, streamProtocol)
	if err != nil {
		return nil, err
	}
	return &conn{Stream: s}, nil
}

// open opens a stream to a peer of our organisation, dialling it if need be.
func (t *transport) open(ctx context.Context, id peer.ID, p protocol.ID) (network.Stream, error) {
	s, err := t.net.Libp2p().NewStream(ctx, id, p)
	if err != nil {
		return nil, fmt.Errorf("member: reach %s: %w", id, err)
	}
	if !t.ours(id) {
		return nil, errors.Join(fmt.Errorf("member: %s is not of organisation %s", id, t.org), s.ResetWithError(codeRefused))
	}
	return s, nil
}

// PacketCh yields what peers sent.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh yields the streams that peers opened.
func (t *transport) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown ends everything and waits for it. It can be called more than once.
func (t *transport) Shutdown() error {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.done)
	}
	t.mu.Unlock()
	t.net.Libp2p().RemoveStreamHandler(packetProtocol)
	t.net.Libp2p().RemoveStreamHandler(streamProtocol)
	t.tasks.Wait()
	for {
		select {
		case c := <-t.streams:
			c.Close()
		default:
			return nil
		}
	}
}

// enter counts a task; false once Shutdown began.
func (t *transport) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.tasks.Add(1)
	return true
}

// acceptStream hands a stream to memberlist.
func (t *transport) acceptStream(s network.Stream) {
	if !t.enter() {
		s.ResetWithError(codeRefused)
		return
	}
	defer t.tasks.Done()
	if !t.ours(s.Conn().RemotePeer()) {
		t.log.Debug("membership stream refused", zap.Stringer("peer", s.Conn().RemotePeer()))
		s.ResetWithError(codeRefused)
		return
	}
	select {
	case t.streams <- &conn{Stream: s}:
	default:
		s.ResetWithError(codeRefused)
	}
}

// conn is a libp2p stream as memberlist wants it.
type conn struct{ network.Stream }

// LocalAddr is our stand-in address.
func (c *conn) LocalAddr() net.Addr { return netAddr(c.Conn().LocalPeer()) }

// RemoteAddr is the peer's stand-in address.
func (c *conn) RemoteAddr() net.Addr { return netAddr(c.Conn().RemotePeer()) }
