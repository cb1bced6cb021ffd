package p2p

import (
	"context"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"go.uber.org/zap"
)

// CertificateProtocol carries a renewed certificate to a connected peer, so that a connection outlives the certificate
// it was made with: one envelope, then the end of the stream.
const CertificateProtocol protocol.ID = "/fednode/certificate/1"

// maxCertificate is the longest certificate that is read.
const maxCertificate = 64 << 10

// showEverybody sends our renewed certificate to all connected peers, one after the other, in the background. A peer
// that cannot be told keeps the old one until it expires, and then connects anew.
func (h *Host) showEverybody(certificate []byte) {
	ctx, done := h.enter()
	if ctx == nil {
		done()
		return
	}
	go func() { // counted by enter; each peer takes at most the hello timeout
		defer done()
		for _, p := range h.net.Network().Peers() {
			if err := h.showCertificate(ctx, p, certificate); err != nil && ctx.Err() == nil {
				h.log.Warn("peer not told of the renewed certificate", zap.Stringer("peer", p), zap.Error(err))
			}
		}
	}()
}

func (h *Host) showCertificate(ctx context.Context, p peer.ID, certificate []byte) error {
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "certificate"), h.cfg.HelloTimeout)
	defer cancel()
	raw, err := h.net.NewStream(ctx, p, CertificateProtocol)
	if err != nil {
		return err
	}
	defer resetWith(raw, CodeCancelled) // after Close it does nothing
	if err := raw.SetDeadline(time.Now().Add(h.cfg.HelloTimeout)); err != nil {
		return err
	}
	if _, err := raw.Write(certificate); err != nil {
		return err
	}
	if err := raw.CloseWrite(); err != nil {
		return err
	}
	// The peer closes once it has read it; a reset says that it was refused.
	if _, err := raw.Read(make([]byte, 1)); err != io.EOF {
		return err
	}
	return raw.Close()
}

// acceptCertificate takes a renewed certificate. A wrong one changes nothing: the one before stays in force.
func (h *Host) acceptCertificate(raw network.Stream) {
	ctx, done := h.enter()
	defer done()
	if ctx == nil {
		resetWith(raw, CodeShutdown)
		return
	}
	p := raw.Conn().RemotePeer()
	err := raw.SetDeadline(time.Now().Add(h.cfg.HelloTimeout))
	var b []byte
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(raw, maxCertificate+1))
	}
	if err == nil {
		err = h.door.Renew(p, b)
	}
	if err != nil {
		h.log.Warn("renewed certificate refused", zap.Stringer("peer", p), zap.Error(err))
		resetWith(raw, CodeProtocol)
		return
	}
	if err := raw.Close(); err != nil {
		resetWith(raw, CodeShutdown)
	}
}
