package generate

import (
	"context"
	"fmt"
	"io"
	"time"

	"fednode/node/connect"
	"fednode/query/tuple"
)

type source struct {
	cfg    Config
	stream *connect.Stream
	shape  *shape
	env    connect.Env
}

// Open returns a reader that begins at a row.
func (s *source) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	r := &reader{source: s, clock: s.env.Time(), cols: newColumns(s.stream, s.shape), maker: s.shape.kind.maker(&s.cfg)}
	r.began = r.clock.Now()
	if pos == nil {
		return r, nil
	}
	d := tuple.NewDecoder(pos)
	r.next = d.Int()
	r.began = time.UnixMicro(d.Int())
	if err := d.Close(); err != nil || r.next < 0 {
		return nil, fmt.Errorf("generate: position: %w", err)
	}
	return r, nil
}

// reader makes the rows from a row on. Its pace counts from when row 0 was made, also over restarts: like a device that
// goes on while nobody reads it, it then has more to give at once, and does not lag behind others for ever.
type reader struct {
	*source
	next  int64 // row
	began time.Time
	clock connect.Clock
	cols  *columns
	maker maker
	ended bool
}

// minWait keeps a paced generator from waking for every row.
const minWait = 5 * time.Millisecond

// Next returns the rows that are due.
func (r *reader) Next(ctx context.Context) (*connect.Block, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.ended {
			return nil, io.EOF
		}
		if r.cfg.Rows > 0 && r.next >= r.cfg.Rows {
			r.ended = true
			return &connect.Block{Pos: r.position(), Status: connect.Status{State: connect.Ended, End: connect.EndEOF}}, nil
		}
		due := r.due()
		if due > r.next {
			return r.block(due), nil
		}
		select {
		case <-ctx.Done():
		case <-r.clock.After(max(minWait, r.until(r.next))):
		}
	}
}

// due returns the row up to which rows are due now.
func (r *reader) due() int64 {
	limit := r.next + int64(r.env.Rows())
	if r.cfg.Rows > 0 {
		limit = min(limit, r.cfg.Rows)
	}
	if r.cfg.Speed == 0 {
		return limit
	}
	passed := r.clock.Now().Sub(r.began).Seconds() * r.cfg.Speed * float64(r.cfg.Rate)
	return max(r.next, min(limit, int64(passed)))
}

// until returns the time until a row is due.
func (r *reader) until(row int64) time.Duration {
	at := float64(row+1) / float64(r.cfg.Rate) / r.cfg.Speed
	return time.Duration(at*float64(time.Second)) - r.clock.Now().Sub(r.began)
}

func (r *reader) block(end int64) *connect.Block {
	var v values
	r.cols.start(int(end - r.next))
	for ; r.next < end; r.next++ {
		h := tuple.Mix64(r.cfg.Seed*0x9E3779B97F4A7C15 ^ uint64(r.next))
		t := r.cfg.timeOf(r.next, h)
		v.ints[0] = int64(t)
		r.maker.row(r.next, h, t, &v)
		r.cols.append(&v)
	}
	b := &connect.Block{Batch: r.cols.take(), Pos: r.position(), Status: connect.Status{State: connect.Behind}}
	if r.cfg.Speed > 0 && r.due() <= r.next {
		b.Status.State = connect.Idle
	}
	return b
}

// timeOf returns the event time of row i: its place at the rate, and up to the disorder more.
func (c *Config) timeOf(i int64, h uint64) tuple.Time {
	place := i/c.Rate*tuple.Second + i%c.Rate*tuple.Second/c.Rate
	more := int64(0)
	if c.Disorder > 0 {
		more = int64(tuple.Mix64(h^0x74) % uint64(c.Disorder))
	}
	return c.Start.Add(place + more)
}

func (r *reader) position() []byte {
	var e tuple.Encoder
	e.Int(r.next)
	e.Int(r.began.UnixMicro())
	return e.B
}

// Close ends the reader.
func (r *reader) Close() error {
	r.ended = true
	return nil
}
