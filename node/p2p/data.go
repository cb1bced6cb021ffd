package p2p

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"go.uber.org/zap"

	"fednode/node/wire"
)

// openData opens the stream of a subscription of the peer. ErrNotUp if the session has ended, whatever libp2p makes of it.
func (s *session) openData(ctx context.Context, subscription uint64) (*Stream, error) {
	raw, err := s.link.host.net.NewStream(network.WithNoDial(ctx, "session"), s.peer.ID, DataProtocol)
	if s.ended() {
		if err == nil {
			resetWith(raw, CodeCancelled)
		}
		return nil, ErrNotUp
	}
	if err != nil {
		return nil, fmt.Errorf("p2p: open data stream to %s: %w", s.peer.Member, err)
	}
	st := &Stream{session: s, raw: raw, ours: newSending(), done: make(chan struct{}),
		key: streamKey{ours: true, subscription: subscription}}
	if err := s.adopt(st); err != nil {
		resetWith(raw, CodeCancelled)
		return nil, err
	}
	out, err := wire.NewControlWriter(st)
	if err == nil {
		out.SetVersion(s.peer.Version)
		err = out.Write(&wire.Attach{Subscription: subscription})
	}
	if err != nil {
		st.Abort(CodeCancelled)
		return nil, err
	}
	return st, nil
}

// acceptData takes a data stream that a peer opened. libp2p calls it on a goroutine of its own.
func (h *Host) acceptData(raw network.Stream) {
	ctx, done := h.enter()
	defer done()
	var s *session
	if l := h.find(raw.Conn().RemotePeer()); l != nil {
		s = l.current()
	}
	if ctx == nil || s == nil {
		resetWith(raw, CodeProtocol)
		return
	}
	s.serveData(ctx, raw)
}

func (s *session) serveData(ctx context.Context, raw network.Stream) {
	h := s.link.host
	quota := h.quotas.of(s.peer.Member.Org)
	if !quota.enter() {
		h.log.Debug("too many data streams", zap.Stringer("member", s.peer.Member))
		resetWith(raw, CodeQuota)
		return
	}
	defer quota.leave()
	subscription, err := readAttach(raw, s.peer.Version, h.cfg.HelloTimeout)
	st := &Stream{session: s, raw: raw, theirs: &receiving{window: int64(h.cfg.Window)}, quota: quota,
		key: streamKey{subscription: subscription}, done: make(chan struct{})}
	if err == nil {
		err = s.adopt(st)
	}
	if err != nil {
		h.log.Debug("data stream refused", zap.Stringer("member", s.peer.Member), zap.Error(err))
		resetWith(raw, CodeProtocol)
		return
	}
	defer st.Close()
	s.giveCredit(subscription, uint64(h.cfg.Window))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the stream, at the latest when the handler returns
		<-st.done
		cancel()
	}()
	h.handler.Data(ctx, s.peer, subscription, st)
}

// adopt enters a stream into the session.
func (s *session) adopt(st *Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return ErrNotUp
	}
	if _, ok := s.streams[st.key]; ok {
		return fmt.Errorf("%w: %d", ErrTaken, st.key.subscription)
	}
	s.streams[st.key] = st
	return nil
}

// readAttach reads the first message of a data stream and nothing behind it.
func readAttach(raw network.Stream, version uint8, timeout time.Duration) (uint64, error) {
	if err := raw.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return 0, err
	}
	in, err := wire.NewControlReader(raw)
	if err != nil {
		return 0, err
	}
	in.SetVersion(version)
	m, err := in.Read()
	if err != nil {
		return 0, err
	}
	attach, ok := m.(*wire.Attach)
	if !ok {
		return 0, &PeerError{Place: "data stream", Got: m.Kind().String(), Expected: "attach"}
	}
	return attach.Subscription, raw.SetReadDeadline(time.Time{})
}

// forget drops a stream that ended.
func (s *session) forget(st *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[st.key] != st {
		return
	}
	delete(s.streams, st.key)
	if !st.key.ours {
		delete(s.credits, st.key.subscription)
	}
}

// closeStreams ends all streams with the session.
func (s *session) closeStreams() {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.streams))
	s.mu.Unlock()
	for _, st := range open {
		st.Abort(CodeShutdown)
	}
}

// giveCredit notes credit to be given back; the writer sends it. Credits are added up, not queued, so that they are
// never lost to a full queue.
func (s *session) giveCredit(subscription, n uint64) {
	s.mu.Lock()
	s.credits[subscription] += n
	s.mu.Unlock()
	select {
	case s.owing <- struct{}{}:
	default:
	}
}

// appendCredits encodes all credit that is to be given back.
func (s *session) appendCredits(buf []byte) []byte {
	s.mu.Lock()
	owed := s.credits
	s.credits = make(map[uint64]uint64)
	s.mu.Unlock()
	for subscription, n := range owed {
		b, err := s.out.encode(&wire.Credit{Subscription: subscription, Bytes: n})
		if err != nil {
			s.link.log.Error("credit cannot be sent", zap.Error(err))
			continue
		}
		buf = append(buf, b...)
	}
	return buf
}

// takeCredit gives credit to the stream it is for. A stream that has ended in the meantime is no error.
func (s *session) takeCredit(m *wire.Credit) error {
	s.mu.Lock()
	st := s.streams[streamKey{ours: true, subscription: m.Subscription}]
	s.mu.Unlock()
	if st == nil {
		return nil
	}
	return st.ours.grant(m.Bytes)
}
