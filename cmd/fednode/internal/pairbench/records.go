package pairbench

import (
	"context"

	"fednode/node/connect"
	"fednode/node/wire/wirebench"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// kindName is the connector's name in node files and queries.
const kindName = "records"

// columns are those of wirebench.Connections.
const columns = `{ ts = "timestamp", src = "string", dst = "string", dport = "int64", bytes = "int64" }`

// batches are made once and repeated: enough that the caches do not hold them.
const batches = 64

// Kind returns the connector "records". Its source gives connection records as fast as they are taken, without end; its
// sink throws rows away.
func Kind() connect.Kind {
	return connect.Kind{
		Name: kindName,
		Source: func(*spec.Reader, *connect.Stream) *connect.SourcePlan {
			return &connect.SourcePlan{Detail: kindName, New: func(connect.Env) connect.Source { return newRecords() }}
		},
		Sink: func(*spec.Reader, *connect.SinkStream) *connect.SinkPlan {
			return &connect.SinkPlan{Detail: kindName, New: func(connect.Env) connect.Sink { return discard{} }}
		},
	}
}

// records repeats batches, each time later by what one pass through them takes.
type records struct {
	batches []*tuple.Batch
	span    int64 // stream time of a pass
}

func newRecords() *records {
	r := &records{batches: wirebench.Connections(batches, connect.DefaultBlockRows)}
	last := r.batches[len(r.batches)-1].Time
	r.span = int64(last[len(last)-1]-r.batches[0].Time[0]) + 1
	return r
}

// Open goes on at the block that follows pos, its number.
func (r *records) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	out := &reader{from: r}
	if pos == nil {
		return out, nil
	}
	d := tuple.NewDecoder(pos)
	out.next = d.Uint()
	return out, d.Close()
}

type reader struct {
	from *records
	next uint64 // number of the block, from 0
}

// Next returns a batch that shares its columns, but for the time, with those of other passes: nobody writes to them.
func (r *reader) Next(ctx context.Context) (*connect.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := uint64(len(r.from.batches))
	b, later := r.from.batches[r.next%n], int64(r.next/n)*r.from.span
	r.next++
	var pos tuple.Encoder
	pos.Uint(r.next)
	return &connect.Block{Batch: moved(b, later), Pos: pos.B, Status: connect.Status{State: connect.Behind}}, nil
}

func (*reader) Close() error { return nil }

// moved returns a batch whose times, which its first column repeats, are later by so many microseconds.
func moved(b *tuple.Batch, later int64) *tuple.Batch {
	out := &tuple.Batch{Schema: b.Schema, Time: make([]tuple.Time, len(b.Time)), Cols: append([]tuple.Column(nil), b.Cols...)}
	ts := make([]int64, len(b.Time))
	for i, t := range b.Time {
		out.Time[i], ts[i] = t.Add(later), int64(t)+later
	}
	out.Cols[0].Int = ts
	return out
}

// discard is a sink that has done with rows when it gets them. The client proxy counts them.
type discard struct{}

func (discard) Recover(context.Context, []byte) (tuple.Position, error) {
	return tuple.Position{}, nil
}

func (discard) Write(context.Context, connect.SinkRows) error          { return nil }
func (discard) Commit(context.Context, tuple.Position) ([]byte, error) { return []byte{}, nil }
func (discard) Finish(context.Context) error                           { return nil }
func (discard) Close() error                                           { return nil }
