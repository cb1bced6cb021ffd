package p2p

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/network"

	"fednode/node/wire"
)

// What a caller can match.
var (
	ErrNotUp     = errors.New("p2p: peer is not up")
	ErrQueueFull = errors.New("p2p: the peer does not take its control messages; queue full")
	ErrCredit    = errors.New("p2p: the peer sent more than it had credit for")
	ErrClosed    = errors.New("p2p: stream closed")
	ErrSelf      = errors.New("p2p: that peer is this node")
	ErrReserved  = errors.New("p2p: messages of this kind are sent by the session itself")
	ErrTaken     = errors.New("p2p: subscription has a data stream already")
)

// Codes with which a stream is aborted; the other side sees them in a network.StreamError. Those of libp2p start at
// 0x1000.
const (
	CodeProtocol  network.StreamErrorCode = 1 // not what the protocol allows
	CodeVersion   network.StreamErrorCode = 2 // no common protocol version
	CodeReplaced  network.StreamErrorCode = 3 // a newer session took its place
	CodeShutdown  network.StreamErrorCode = 4 // the session or the node ends
	CodeCredit    network.StreamErrorCode = 5 // more sent than credit allowed
	CodeCancelled network.StreamErrorCode = 6 // the caller gave the stream up
	CodeQuota     network.StreamErrorCode = 7 // too many streams for this organisation
)

// PeerError is a breach of the protocol by the other side; it ends the session or the stream with that peer.
type PeerError struct {
	Place    string // "hello", "heartbeat", "data stream"
	Got      string
	Expected string
}

// Error says where, what came and what was expected.
func (e *PeerError) Error() string {
	return fmt.Sprintf("p2p: %s: got %s, expected %s", e.Place, e.Got, e.Expected)
}

// VersionError says that two nodes have no protocol version in common.
type VersionError struct {
	Ours     []uint8
	Theirs   []uint8
	Software string // the other side's
}

// Error names both sides' versions and which side should be upgraded.
func (e *VersionError) Error() string {
	side := "upgrade this node"
	if len(e.Theirs) == 0 || slices.Max(e.Theirs) < slices.Min(e.Ours) {
		side = "upgrade the other node"
	}
	return fmt.Sprintf("p2p: no common protocol version: we speak %v, the peer (%s) speaks %v; %s", e.Ours, e.Software, e.Theirs, side)
}

// breach returns what to tell a peer that broke the protocol; nil if err is something else.
func breach(err error) *wire.Error {
	var ours *PeerError
	var theirs *wire.ProtocolError
	switch {
	case errors.As(err, &theirs):
		return &wire.Error{Code: theirs.Code, Text: printable(theirs.Reason, maxReason)}
	case errors.As(err, &ours):
		return &wire.Error{Code: wire.Malformed, Text: printable(ours.Error(), maxReason)}
	}
	return nil
}
