package member

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"
)

const (
	maxPacket   = 1<<16 - 1
	packetQueue = 128             // packets waiting for one peer; more are dropped
	writeLimit  = time.Second     // for one packet: gossip that is late is worth nothing
	idleLimit   = 2 * time.Minute // after which a sender ends
	retryLimit  = 1 * time.Second // between tries to open a stream
	openLimit   = 5 * time.Second // for one try
)

// sender sends packets to one peer.
type sender struct {
	id    peer.ID
	queue chan []byte // never closed; full: dropped
}

// offer queues a copy of b, or drops it.
func (s *sender) offer(b []byte) {
	select {
	case s.queue <- bytes.Clone(b):
	default:
	}
}

// sender returns the peer's sender, made and started if there is none; nil after Shutdown.
func (t *transport) sender(id peer.ID) *sender {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	s := t.senders[id]
	if s == nil {
		s = &sender{id: id, queue: make(chan []byte, packetQueue)}
		t.senders[id] = s
		t.tasks.Go(func() { t.send(s) })
	}
	return s
}

// retire ends a sender that nobody used for long; false if a packet came in the meantime.
func (t *transport) retire(s *sender) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(s.queue) > 0 {
		return false
	}
	delete(t.senders, s.id)
	return true
}

// send carries packets until Shutdown or until there were none for long.
func (t *transport) send(s *sender) {
	var out network.Stream
	defer func() {
		if out != nil {
			out.ResetWithError(codeRefused)
		}
	}()
	idle := time.NewTimer(idleLimit)
	defer idle.Stop()
	var failed time.Time
	for {
		select {
		case <-t.done:
			return
		case <-idle.C:
			if t.retire(s) {
				return
			}
		case b := <-s.queue:
			idle.Reset(idleLimit)
			if out == nil && time.Since(failed) < retryLimit {
				continue // the peer cannot be reached; the packet is lost
			}
			if out = t.sendOne(s.id, out, b); out == nil {
				failed = time.Now()
			}
		}
	}
}

// sendOne writes a packet on out, or on a new stream if that is nil. It returns the stream to go on with; nil if it
// broke.
func (t *transport) sendOne(id peer.ID, out network.Stream, b []byte) network.Stream {
	if out == nil {
		open, cancel := context.WithTimeout(context.Background(), openLimit)
		defer cancel()
		release := t.cancelAtShutdown(cancel)
		s, err := t.open(open, id, packetProtocol)
		release()
		if err != nil {
			t.log.Debug("membership packet lost", zap.Stringer("peer", id), zap.Error(err))
			return nil
		}
		out = s
	}
	frame := append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(b)), uint16(len(b))), b...)
	err := out.SetWriteDeadline(time.Now().Add(writeLimit))
	if err == nil {
		_, err = out.Write(frame)
	}
	if err != nil {
		t.log.Debug("membership packets end", zap.Stringer("peer", id), zap.Error(err))
		out.ResetWithError(codeRefused)
		return nil
	}
	return out
}

// cancelAtShutdown calls cancel when Shutdown begins, until release is called.
func (t *transport) cancelAtShutdown(cancel func()) (release func()) {
	released := make(chan struct{})
	ended := make(chan struct{})
	go func() { // ends at release
		defer close(ended)
		select {
		case <-t.done:
			cancel()
		case <-released:
		}
	}()
	return func() {
		close(released)
		<-ended
	}
}

// acceptPackets reads a peer's packets until its stream ends.
func (t *transport) acceptPackets(s network.Stream) {
	if !t.enter() {
		s.ResetWithError(codeRefused)
		return
	}
	defer t.tasks.Done()
	defer s.ResetWithError(codeRefused)
	from := s.Conn().RemotePeer()
	if !t.ours(from) {
		t.log.Debug("membership packets refused", zap.Stringer("peer", from))
		return
	}
	defer t.cancelAtShutdown(func() { s.ResetWithError(codeRefused) })()
	r := bufio.NewReader(s)
	var size [2]byte
	for {
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return
		}
		b := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(r, b); err != nil {
			return
		}
		select {
		case t.packets <- &memberlist.Packet{Buf: b, From: netAddr(from), Timestamp: time.Now()}:
		default: // memberlist is behind; packets may be lost
		}
	}
}
