package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fednode/node/bind"
	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/tuple"
)

// blocksAhead is how many decoded blocks of a source may wait.
const blocksAhead = 4

// stream is one source of the query on its way in.
type stream struct {
	decl   *query.Stream
	name   string // in the federation
	reader connect.Reader
	blocks chan *connect.Block
	// failure is why blocks ended before the source did; it is set before blocks is closed.
	failure error

	// Owned by the run goroutine.
	decider  *ingest.Decider
	boundary tuple.Time
	ended    bool
	end      connect.Status
	errors   uint64
	reasons  map[string]uint64
	first    string
	arrival  tuple.Time
	engines  []target  // the fragments that its rows go to
	sinks    []target  // the outputs that its rows go to, as they come
	aside    [2]*aside // where what it sets aside goes, by kind; nil for nowhere
	sorter   *sorter   // puts rows in order before the fragments get them; nil while nothing needs it
	unseen   int       // rows since the state was last measured
	// sorted delivers the rows of the sorter, in order, once all have been read; stop ends that.
	sorted func() (*tuple.Batch, error, bool)
	stop   func()
}

// openStream opens the source of a declared stream.
func (r *runner) openStream(ctx context.Context, d *query.Stream, name string) (*stream, error) {
	src, ok := r.opt.Connectors.Sources[d.Name]
	if !ok {
		return nil, fmt.Errorf("stream %s: it is a stream of another organisation; give a file for it with --source %s=PATH", d.Name, d.Name)
	}
	if !src.Plan.Bounded {
		return nil, fmt.Errorf("stream %s: its source does not end; a run needs bounded input, for example a file that is not followed", d.Name)
	}
	reader, err := src.Plan.New(r.opt.Env).Open(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", d.Name, err)
	}
	rules := bind.Rules(d.Rules, tuple.MinTime)
	rules.Advance = false // silence of a file means nothing
	return &stream{
		decl: d, name: name, reader: reader, blocks: make(chan *connect.Block, blocksAhead), boundary: tuple.MinTime,
		decider: ingest.New(rules, 0), reasons: make(map[string]uint64), stop: func() {},
	}, nil
}

// read decodes the source until it ends.
func (s *stream) read(ctx context.Context) error {
	defer close(s.blocks)
	for {
		b, err := s.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			s.failure = fmt.Errorf("stream %s: %w", s.decl.Name, err)
			return s.failure
		}
		select {
		case s.blocks <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decide takes a block: rows that are accepted, and the boundary that follows them.
func (s *stream) decide(b *connect.Block, now time.Time) (*tuple.Batch, error) {
	for i := range b.Rejects {
		rej := &b.Rejects[i]
		if s.decl.Rules.OnError == query.ErrorFail {
			return nil, &RejectError{Stream: s.decl.Name, Err: rej}
		}
		if s.errors == 0 {
			s.first = rej.Error()
		}
		s.errors++
		s.reasons[rej.Reason.String()]++
	}
	if err := s.sideRejects(b.Rejects, tuple.TimeOf(now)); err != nil {
		return nil, err
	}
	var accepted *tuple.Batch
	if b.Rows() > 0 {
		if s.decl.Time < 0 {
			s.arrival = max(s.arrival, tuple.TimeOf(now))
			for i := range b.Batch.Time {
				b.Batch.Time[i] = s.arrival
			}
		}
		c := s.decider.Rows(b.Batch, tuple.TimeOf(now), 0)
		accepted, s.boundary = c.Batch, c.Boundary
		if err := s.sideRows(b.Batch, c.Verdicts, tuple.TimeOf(now)); err != nil {
			return nil, err
		}
	}
	return accepted, nil
}

// finish promises that nothing will follow.
func (s *stream) finish() { s.ended, s.boundary = true, tuple.MaxTime }

func (s *stream) report() StreamReport {
	t := s.decider.Totals()
	return StreamReport{
		Name: s.decl.Name, Rows: t.Rows, Late: t.Late, Future: t.Future, Errors: s.errors, Reasons: s.reasons, First: s.first,
		End: s.end.End, Detail: s.end.Detail, LatePath: s.aside[source.Late].path(), ErrorsPath: s.aside[source.Unreadable].path(),
	}
}
