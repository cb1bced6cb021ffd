package p2p

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// EchoProtocol measures round trips: what is written comes back. Each message is 8 bytes.
const EchoProtocol protocol.ID = "/fednode/echo/1"

const (
	echoBytes = 8
	echoEvery = 5 * time.Second
)

// keepMeasuring measures the round trip at once and then from time to time, until ctx ends. A failure only means that
// there is no figure: whether the peer is alive is for the heartbeats to say.
func (s *session) keepMeasuring(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.measure(ctx)
		if err != nil && !pause(ctx, echoEvery) {
			return
		}
	}
}

// measure keeps one stream to the echo and measures on it until something fails.
func (s *session) measure(ctx context.Context) error {
	raw, err := s.link.host.net.NewStream(network.WithNoDial(ctx, "session"), s.peer.ID, EchoProtocol)
	if err != nil {
		return fmt.Errorf("p2p: measure round trip: %w", err)
	}
	defer resetWith(raw, CodeCancelled)
	stop := context.AfterFunc(ctx, func() { resetWith(raw, CodeCancelled) })
	defer stop()
	// The first exchange also negotiates the protocol, which takes a round trip of its own.
	if _, err := echo(raw, s.link.host.cfg.HelloTimeout); err != nil {
		return err
	}
	for {
		began := time.Now()
		rtt, err := echo(raw, s.link.host.cfg.HelloTimeout)
		if err != nil {
			return err
		}
		if s.heardSince(began, time.Now()) {
			s.smooth(rtt)
		}
		if !pause(ctx, echoEvery) {
			return ctx.Err()
		}
	}
}

// heardSince reports whether the peer has been heard all the while since then. A round trip that spans a silence measures
// that, and nothing of the way. What is a silence is for the limit to say: a peer may beat more slowly than we do.
func (s *session) heardSince(then, now time.Time) bool {
	return time.Duration(s.resumed.Load()) < s.link.host.since(then) && s.silence(now) <= s.link.limit(now)
}

// smooth takes in an eighth of each new figure, as TCP does.
func (s *session) smooth(rtt time.Duration) {
	old := s.rtt.Load()
	if old != 0 {
		rtt = time.Duration(old) + (rtt-time.Duration(old))/8
	}
	s.rtt.Store(int64(max(rtt, 1)))
}

// echo sends random bytes and waits for them.
func echo(raw network.Stream, timeout time.Duration) (time.Duration, error) {
	var out, in [echoBytes]byte
	rand.Read(out[:])
	if err := raw.SetDeadline(time.Now().Add(timeout)); err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := raw.Write(out[:]); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(raw, in[:]); err != nil {
		return 0, err
	}
	if in != out {
		return 0, &PeerError{Place: "echo", Got: "other bytes", Expected: "those that were sent"}
	}
	return time.Since(begin), nil
}

// answerEcho writes back what comes, at most a message at a time. One that sends nothing for long is let go.
func (h *Host) answerEcho(raw network.Stream) {
	ctx, done := h.enter()
	defer done()
	if ctx == nil {
		resetWith(raw, CodeShutdown)
		return
	}
	stop := context.AfterFunc(ctx, func() { resetWith(raw, CodeShutdown) })
	defer stop()
	defer resetWith(raw, CodeShutdown)
	var b [echoBytes]byte
	for {
		if raw.SetDeadline(time.Now().Add(4*echoEvery)) != nil {
			return
		}
		if _, err := io.ReadFull(raw, b[:]); err != nil {
			return
		}
		if _, err := raw.Write(b[:]); err != nil {
			return
		}
	}
}

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
