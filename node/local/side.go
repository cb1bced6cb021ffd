package local

import (
	"context"
	"errors"
	"fmt"

	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/tuple"
)

// SideSink takes what a stream sets aside, of one kind, as rows of the kind's schema.
type SideSink struct {
	// Stream is the stream's name in the query; Kind says which of its two side streams.
	Stream string
	Kind   source.SideKind
	// Path is what a person calls the target.
	Path string
	Sink connect.Sink
}

// aside is a side sink on its way out. A nil aside takes nothing.
type aside struct {
	SideSink
	ctx  context.Context // of the run, as for sinks
	rows *tuple.BatchBuilder
	out  uint64 // rows written
	done bool
}

// openSides begins the side sinks.
func (r *runner) openSides(ctx context.Context) error {
	for _, decl := range r.opt.Sides {
		var s *stream
		for _, candidate := range r.streams {
			if candidate.decl.Name == decl.Stream {
				s = candidate
			}
		}
		if s == nil {
			return fmt.Errorf("stream %s: nothing in the query reads it, so nothing of it is set aside", decl.Stream)
		}
		a := &aside{SideSink: decl, ctx: ctx, rows: tuple.NewBatchBuilder(decl.Kind.Schema())}
		r.sides = append(r.sides, a)
		if _, err := a.Sink.Recover(ctx, nil); err != nil {
			return a.failed(err)
		}
		s.aside[decl.Kind] = a
	}
	return nil
}

func (a *aside) failed(err error) error {
	return fmt.Errorf("%s%s: %w", a.Stream, a.Kind.Suffix(), err)
}

// write hands on the rows that have been gathered.
func (a *aside) write() error {
	if a == nil || a.rows.Rows() == 0 {
		return nil
	}
	b := a.rows.Take()
	if err := a.Sink.Write(a.ctx, connect.SinkRows{Batch: b, Generation: 1, FirstID: a.out + 1}); err != nil {
		return a.failed(err)
	}
	a.out += uint64(b.Rows())
	return nil
}

// sideRejects sets the unreadable records of a block aside, unless the stream only counts them.
func (s *stream) sideRejects(rejects []connect.Reject, arrival tuple.Time) error {
	a := s.aside[source.Unreadable]
	if a == nil || s.decl.Rules.OnError != query.ErrorSide {
		return nil
	}
	for i := range rejects {
		connect.AppendReject(a.rows, &rejects[i], arrival)
	}
	return a.write()
}

// sideRows sets the late and future rows of a batch aside, unless they are dropped or were accepted at another time.
func (s *stream) sideRows(b *tuple.Batch, verdicts []ingest.Verdict, arrival tuple.Time) error {
	a := s.aside[source.Late]
	if a == nil {
		return nil
	}
	for _, v := range verdicts {
		if v.Accepted || v.Late && s.decl.Rules.Late == query.LateDrop {
			continue
		}
		source.AppendLate(a.rows, v, b, arrival)
	}
	return a.write()
}

// finishSides makes what was set aside visible.
func (r *runner) finishSides(ctx context.Context) error {
	for _, a := range r.sides {
		if err := a.Sink.Finish(ctx); err != nil {
			return a.failed(err)
		}
		a.done = true
	}
	return nil
}

// closeSides leaves unfinished what is not finished.
func (r *runner) closeSides() error {
	var errs []error
	for _, a := range r.sides {
		if !a.done {
			errs = append(errs, a.Sink.Close())
		}
	}
	return errors.Join(errs...)
}

// path returns where the rows went, "" if nowhere.
func (a *aside) path() string {
	if a == nil {
		return ""
	}
	return a.Path
}
