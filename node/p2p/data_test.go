package p2p

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/stretchr/testify/require"

	"fednode/node/wire"
)

// Bytes arrive as written, credit lets a producer run a window ahead and no further.
func TestDataStreamCredit(t *testing.T) {
	a, b := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, a, b)
	cfg := testConfig()
	cfg.Window = 64 << 10
	producer, consumer := start(t, a, testConfig(), quiet()), start(t, b, cfg, quiet())
	const payload = 16 << 10
	const payloads = 20
	release := make(chan int, payloads)
	served, ended := make(chan string, 1), make(chan error, 1)
	consumer.rec.serve = func(ctx context.Context, p Peer, subscription uint64, s *Stream) {
		served <- fmt.Sprint(p.Member, " ", subscription)
		buf := make([]byte, payload)
		for {
			if _, err := io.ReadFull(s, buf); err != nil {
				ended <- err
				return
			}
			if err := s.Take(payload); err != nil {
				ended <- err
				return
			}
			select {
			case n := <-release:
				s.Release(n)
			case <-ctx.Done():
				ended <- ctx.Err()
				return
			}
		}
	}
	join(t, producer, consumer, "tcp")
	s, err := producer.OpenData(t.Context(), consumer.ID(), 9)
	require.NoError(t, err)
	require.Equal(t, "north/a 9", take(t, served, "the handler"))
	_, err = producer.OpenData(t.Context(), consumer.ID(), 9)
	require.ErrorIs(t, err, ErrTaken)

	var sent atomic.Int64
	go func() {
		for range payloads {
			if s.Acquire(context.Background(), payload) != nil {
				return
			}
			if _, err := s.Write(make([]byte, payload)); err != nil {
				return
			}
			sent.Add(1)
		}
		s.CloseWrite()
	}()
	// A window of 64 KiB is four payloads; then the producer waits for credit, and says so. The fourth may still be on its
	// way into the stream when its credit is already taken.
	require.Eventually(t, func() bool { return s.Owed() && sent.Load() == 4 }, patient, time.Millisecond)
	for range payloads {
		release <- payload
	}
	require.ErrorIs(t, take(t, ended, "the end of the stream"), io.EOF)
	require.Equal(t, int64(payloads), sent.Load())
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { return producer.Peers()[0].Streams == 0 }, patient, time.Millisecond)
	require.ErrorIs(t, s.Acquire(t.Context(), 1<<30), ErrClosed)
}

// A producer that ignores credit is caught by the consumer.
func TestCreditBreach(t *testing.T) {
	r := &receiving{window: 100}
	require.True(t, r.take(99))
	require.True(t, r.take(500), "any credit left allows one payload more")
	require.False(t, r.take(1))
	require.Zero(t, r.release(24))
	require.Equal(t, uint64(599), r.release(599-24))
	require.True(t, r.take(1))
	require.Zero(t, r.release(5), "more released than taken gives nothing away")
	require.Zero(t, r.release(0))

	s := newSending()
	require.False(t, s.take(1))
	require.NoError(t, s.grant(100))
	require.True(t, s.take(500))
	require.True(t, s.owed())
	require.Error(t, s.grant(1<<41))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.acquire(ctx, nil, 1), context.Canceled)
}

// Whoever is told that the session is over opens no stream in the next one, in which the number may be that of another
// subscription.
func TestOpenDataTooLate(t *testing.T) {
	a := found(t, "north", "a")
	producer, consumer := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	begun := make(chan uint64, 2)
	consumer.rec.serve = func(_ context.Context, _ Peer, subscription uint64, _ *Stream) { begun <- subscription }
	join(t, producer, consumer, "tcp")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := producer.OpenData(over, consumer.ID(), 1)
	require.Error(t, err)
	_, err = producer.OpenData(t.Context(), consumer.ID(), 2)
	require.NoError(t, err)
	require.Equal(t, uint64(2), take(t, begun, "the handler"))
	require.Empty(t, begun)
}

// An abort at either end is an error with its code at the other, and the session goes on.
func TestAbort(t *testing.T) {
	a := found(t, "north", "a")
	producer, consumer := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	begun, got := make(chan struct{}, 1), make(chan error, 1)
	consumer.rec.serve = func(_ context.Context, _ Peer, _ uint64, s *Stream) {
		begun <- struct{}{}
		_, err := s.Read(make([]byte, 1))
		got <- err
	}
	join(t, producer, consumer, "tcp")
	s, err := producer.OpenData(t.Context(), consumer.ID(), 1)
	require.NoError(t, err)
	take(t, begun, "the handler")
	s.Abort(CodeCancelled)
	var reset *network.StreamError
	require.ErrorAs(t, take(t, got, "the abort"), &reset)
	require.Equal(t, CodeCancelled, reset.ErrorCode)
	require.NoError(t, producer.Send(consumer.ID(), &wire.Unsubscribe{Subscription: 1}))
	consumer.rec.wait(t, "message", func() bool { return len(consumer.rec.got) == 1 })
}

// Streams end with their session, at both ends, and nobody waits for ever.
func TestStreamsEndWithTheSession(t *testing.T) {
	a := found(t, "north", "a")
	producer, consumer := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	got := make(chan error, 1)
	consumer.rec.serve = func(ctx context.Context, _ Peer, _ uint64, s *Stream) {
		_, err := io.Copy(io.Discard, s)
		<-ctx.Done()
		got <- err
	}
	join(t, producer, consumer, "tcp")
	s, err := producer.OpenData(t.Context(), consumer.ID(), 1)
	require.NoError(t, err)
	require.NoError(t, s.Acquire(t.Context(), 32<<20), "the window arrives, and a payload may exceed it")
	waiting := make(chan error, 1)
	go func() { waiting <- s.Acquire(context.Background(), 1) }()
	consumer.stop()
	require.ErrorIs(t, take(t, waiting, "the end of the wait for credit"), ErrClosed)
	require.Error(t, take(t, got, "the end of the handler"))
	_, err = s.Write([]byte("x"))
	require.Error(t, err)
	producer.rec.waitLine(t, "down north/b left")
	_, err = producer.OpenData(t.Context(), consumer.ID(), 2)
	require.ErrorIs(t, err, ErrNotUp)
}

// A partner has a number of streams and a rate; our own nodes are not bound by them.
func TestQuota(t *testing.T) {
	a, b := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, a, b)
	cfg := testConfig()
	cfg.Limits.StreamsPerOrg, cfg.Limits.BytesPerSec = 2, 1<<20
	consumer, partner, own := start(t, a, cfg, quiet()), start(t, b, testConfig(), quiet()), start(t, a.enrol(t, "c"), testConfig(), quiet())
	read := make(chan int64, 8)
	consumer.rec.serve = func(_ context.Context, _ Peer, _ uint64, s *Stream) {
		n, _ := io.Copy(io.Discard, s)
		read <- n
	}
	join(t, partner, consumer, "tcp")
	join(t, own, consumer, "tcp")
	const size = 1<<20 + 300<<10
	streams := make([]*Stream, 2)
	for i := range streams {
		s, err := partner.OpenData(t.Context(), consumer.ID(), uint64(i+1))
		require.NoError(t, err)
		require.NoError(t, s.Acquire(t.Context(), 1))
		streams[i] = s
	}
	third, err := partner.OpenData(t.Context(), consumer.ID(), 3)
	require.NoError(t, err)
	_, err = third.Read(make([]byte, 1))
	var reset *network.StreamError
	require.ErrorAs(t, err, &reset)
	require.Equal(t, CodeQuota, reset.ErrorCode)

	begin := time.Now()
	_, err = streams[0].Write(make([]byte, size))
	require.NoError(t, err)
	require.NoError(t, streams[0].CloseWrite())
	require.Equal(t, int64(size), take(t, read, "the bytes"))
	require.Greater(t, time.Since(begin), 200*time.Millisecond, "a burst of a second, then the rate")

	for i := range uint64(3) {
		s, err := own.OpenData(t.Context(), consumer.ID(), i+1)
		require.NoError(t, err)
		require.NoError(t, s.Acquire(t.Context(), 1))
	}
	third.Abort(CodeCancelled)
}
