package p2p

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/libp2p/go-libp2p/core/network"

	"fednode/node/p2p/admission"
	"fednode/node/trust"
	"fednode/node/wire"
)

// troubleKind puts an error into one of a few classes, so that the same trouble is logged once.
func troubleKind(err error) string {
	var (
		refused *admission.RefusedError
		proto   *PeerError
		bad     *wire.ProtocolError
		version *VersionError
		dns     *net.DNSError
		stream  *network.StreamError
	)
	switch {
	case errors.As(err, &refused):
		return "the peer refused us"
	case errors.Is(err, trust.ErrUntrusted), errors.Is(err, trust.ErrRevoked), errors.Is(err, trust.ErrExpired),
		errors.Is(err, trust.ErrNotYet), errors.Is(err, trust.ErrSignature), errors.Is(err, trust.ErrIdentity):
		return "we refused the peer"
	case errors.As(err, &version):
		return "no common version"
	case errors.As(err, &stream) && stream.Remote && stream.ErrorCode == CodeVersion:
		return "no common version"
	case errors.As(err, &proto), errors.As(err, &bad):
		return "not the protocol"
	case errors.As(err, &dns):
		return "name not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	}
	return "connection failed"
}
