package p2p

import (
	"context"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"fednode/node/trust"
	"fednode/node/wire"
)

// Peer is the other side of a session.
type Peer struct {
	ID          peer.ID
	Member      trust.Member
	Version     uint8 // the protocol version that both speak
	Incarnation uint64
	Software    string
	Resumed     bool // up again after a silence, in the same session: nothing was lost
}

// Handler is told what happens. Of one peer the calls come one after the other, but for Data and Beat. One that does not
// return holds up only the calls after it: heartbeats are read and sent, until more messages wait than Config.Queue.
type Handler interface {
	// PeerUp: the hello was accepted, or the peer was silent and is heard again (p.Resumed).
	PeerUp(p Peer)
	// PeerDown: the session ended, or the peer is silent. Unless the cause is CauseSilent or CauseDeaf, its data streams
	// are gone.
	PeerDown(p Peer, cause Cause)
	// Control delivers a control message, owned, in the order it was sent: all kinds but hello, heartbeat, credit, goodbye,
	// error and attach, which are the session's.
	Control(p Peer, m wire.Message)
	// Beat returns what the next heartbeat tells the peer of the streams it shares. It must not block, and is called beside
	// the others, also before PeerUp has returned.
	Beat(p Peer) []wire.StreamStatus
	// Heard delivers what the newest heartbeat told us.
	Heard(p Peer, streams []wire.StreamStatus)
	// Data serves a data stream that the peer opened for a subscription of ours, on a goroutine of its own; the stream is
	// closed when it returns. ctx ends with the stream, the session and the host.
	Data(ctx context.Context, p Peer, subscription uint64, s *Stream)
}

// Target is a peer to keep a session with, and where it may be.
type Target struct {
	Peer  peer.ID
	Addrs []ma.Multiaddr
}

// ParseTarget reads a multiaddress that ends in /p2p/ID.
func ParseTarget(address string) (Target, error) {
	info, err := peer.AddrInfoFromString(address)
	if err != nil || len(info.Addrs) == 0 {
		return Target{}, fmt.Errorf("p2p: address %q: expected /dns4/host/tcp/7481/p2p/ID: %w", address, errors.Join(err))
	}
	return Target{Peer: info.ID, Addrs: info.Addrs}, nil
}
