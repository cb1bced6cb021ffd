package windowbench

import (
	"context"
	"time"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// ticks is a source that gives one row for each stime pushed. It is its own reader.
type ticks struct{ times chan tuple.Time }

// push hands over a row and returns when the reader has it.
func (s *ticks) push(ctx context.Context, t tuple.Time) error {
	select {
	case s.times <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *ticks) Open(context.Context, []byte) (connect.Reader, error) { return s, nil }

func (s *ticks) Next(ctx context.Context) (*connect.Block, error) {
	select {
	case t := <-s.times:
		b := tuple.NewBatchBuilder(Schema())
		b.AppendInt(0, int64(t))
		b.AppendInt(1, 1)
		b.EndRow(t)
		return &connect.Block{Batch: b.Take(), Status: connect.Status{State: connect.Idle}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (*ticks) Close() error { return nil }

// results is a sink that tells when each batch of results came.
type results struct{ came chan time.Time }

func (*results) Recover(context.Context, []byte) (tuple.Position, error) {
	return tuple.Position{}, nil
}

func (r *results) Write(ctx context.Context, _ connect.SinkRows) error {
	select {
	case r.came <- time.Now():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*results) Commit(context.Context, tuple.Position) ([]byte, error) { return []byte{}, nil }
func (*results) Finish(context.Context) error                           { return nil }
func (*results) Close() error                                           { return nil }
