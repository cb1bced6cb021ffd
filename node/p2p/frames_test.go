package p2p

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/wire"
	"fednode/query/tuple"
)

// Frames of package wire over a data stream, with its credit: far more than a window goes through, and boundaries pass
// without any.
func TestFramesWithCredit(t *testing.T) {
	a, b := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, a, b)
	cfg := testConfig()
	cfg.Window = 64 << 10
	producer, consumer := start(t, a, testConfig(), quiet()), start(t, b, cfg, quiet())
	schema, err := tuple.NewSchema(tuple.Field{Name: "n", Type: tuple.Type{Kind: tuple.Int64}})
	require.NoError(t, err)

	type outcome struct {
		sum, rows int64
		err       error
	}
	done := make(chan outcome, 1)
	consumer.rec.serve = func(_ context.Context, _ Peer, _ uint64, s *Stream) {
		var o outcome
		o.err = func() error {
			r, err := wire.NewReader(s, wire.ReaderOptions{Schema: schema, Budget: func(d wire.Demand) error {
				if d.Data {
					return s.Take(d.Bytes)
				}
				return nil
			}})
			if err != nil {
				return err
			}
			before := uint64(0)
			for {
				f, err := r.ReadFrame()
				if err != nil {
					return err
				}
				size := int(r.Stats().DataBytes - before)
				before = r.Stats().DataBytes
				if f.Batch != nil {
					for _, v := range f.Batch.Cols[0].Int {
						o.sum += v
					}
					o.rows += int64(f.Batch.Rows())
				}
				s.Release(size)
			}
		}()
		done <- o
	}
	join(t, producer, consumer, "tcp")
	s, err := producer.OpenData(t.Context(), consumer.ID(), 3)
	require.NoError(t, err)
	w, err := wire.NewWriter(s, schema, wire.WriterOptions{Credit: func(n int) error { return s.Acquire(t.Context(), n) }})
	require.NoError(t, err)
	const frames, rows = 100, 1000
	for i := range int64(frames) {
		builder := tuple.NewBatchBuilder(schema)
		for j := range int64(rows) {
			builder.AppendInt(0, j)
			builder.EndRow(tuple.Time(i))
		}
		first := uint64(i*rows) + 1
		require.NoError(t, w.WriteFrame(&tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + rows - 1, Batch: builder.Take()}))
		require.NoError(t, w.WriteFrame(&tuple.Frame{Kind: tuple.Boundary, Time: tuple.Time(i + 1)}))
	}
	require.Greater(t, w.Stats().DataBytes, uint64(10*cfg.Window), "many windows")
	require.NoError(t, s.CloseWrite())
	o := take(t, done, "the end of the stream")
	require.True(t, errors.Is(o.err, io.EOF), o.err)
	require.Equal(t, int64(frames*rows), o.rows)
	require.Equal(t, int64(frames*rows*(rows-1)/2), o.sum)
}
