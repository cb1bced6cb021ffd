package p2p

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkDataStream moves 256 KiB payloads over loopback, by transport.
func BenchmarkDataStream(b *testing.B) {
	for _, kind := range []string{"tcp", "quic"} {
		b.Run(kind, func(b *testing.B) {
			a := found(b, "north", "a")
			producer, consumer := start(b, a, testConfig(), quiet()), start(b, a.enrol(b, "b"), testConfig(), quiet())
			const payload = 256 << 10
			consumer.rec.serve = func(_ context.Context, _ Peer, _ uint64, s *Stream) {
				buf := make([]byte, payload)
				for {
					if _, err := io.ReadFull(s, buf); err != nil {
						return
					}
					if s.Take(payload) != nil {
						return
					}
					s.Release(payload)
				}
			}
			join(b, producer, consumer, kind)
			s, err := producer.OpenData(b.Context(), consumer.ID(), 1)
			require.NoError(b, err)
			buf := make([]byte, payload)
			b.SetBytes(payload)
			for b.Loop() {
				require.NoError(b, s.Acquire(b.Context(), payload))
				_, err := s.Write(buf)
				require.NoError(b, err)
			}
			require.NoError(b, s.Close())
		})
	}
}

// BenchmarkStart is from New to listening on both transports.
func BenchmarkStart(b *testing.B) {
	a := found(b, "north", "a")
	for b.Loop() {
		n := start(b, a, testConfig(), quiet())
		n.stop()
	}
}

// BenchmarkIdleSession is the cost of one second of a session with heartbeats of 100 ms, both ends; CPU is what
// matters: read it from user and system time.
func BenchmarkIdleSession(b *testing.B) {
	a := found(b, "north", "a")
	cfg := testConfig()
	cfg.Heartbeat = 100 * time.Millisecond
	n, m := start(b, a, cfg, quiet()), start(b, a.enrol(b, "b"), cfg, quiet())
	join(b, n, m, "tcp")
	before := cpuTime(b)
	for b.Loop() {
		pause(b.Context(), time.Second)
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1e4/float64(b.N), "cpu-%/2-ends")
}
