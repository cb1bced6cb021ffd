package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"fednode/node/bind"
	"fednode/node/connect"
	"fednode/query"
	"fednode/query/tuple"
)

// Options of a run.
type Options struct {
	Connectors *bind.Connectors
	// Env is given to sources and sinks; its BlockRows is how many rows a batch has at most.
	Env connect.Env
	// MemoryBytes is how much of a stream is sorted in memory before a run is written to disk, and how much state the
	// operators may hold for rows that may stand in any order before such rows are sorted; 0 means 64 MiB.
	MemoryBytes int64
	// TempDir is where such runs lie; "" is the system's.
	TempDir string
	// Sides take what streams set aside; without them it is only counted.
	Sides []SideSink
	// Progress, if not nil, is called now and then with what has been read so far.
	Progress func(Progress)
}

// Progress is how far a run has come.
type Progress struct {
	Rows uint64
	Time tuple.Time // largest stime read
}

// Report is what a run did.
type Report struct {
	Query   string
	Streams []StreamReport // in order of name
	Outputs []OutputReport // in order of name
	Wall    time.Duration
	// DivByZero and Overflow count values that became null.
	DivByZero uint64
	Overflow  uint64
}

// Complete reports whether every source ended properly.
func (r *Report) Complete() bool {
	for _, s := range r.Streams {
		if s.End != connect.EndEOF {
			return false
		}
	}
	return true
}

// StreamReport is what became of the records of one stream.
type StreamReport struct {
	Name   string
	Rows   uint64 // accepted
	Late   uint64
	Future uint64
	Errors uint64 // records that could not be read
	// Reasons counts Errors by reason; First is the first of them.
	Reasons map[string]uint64
	First   string
	End     connect.End
	Detail  string
	// LatePath and ErrorsPath are where Options.Sides has put late and future rows and unreadable records; "" if nowhere.
	LatePath   string
	ErrorsPath string
}

// Aside returns how many records were set aside, late and future rows included.
func (s *StreamReport) Aside() uint64 { return s.Late + s.Future + s.Errors }

// OutputReport is what left through one output.
type OutputReport struct {
	Name   string
	Rows   uint64
	Target string
}

// RejectError says that a record could not be read in a stream that may not lose any.
type RejectError struct {
	Stream string
	Err    error
}

// Error prints the stream and the record.
func (e *RejectError) Error() string {
	return fmt.Sprintf("stream %s: %v; the stream says on_error = \"fail\"", e.Stream, e.Err)
}

// Unwrap returns the reject.
func (e *RejectError) Unwrap() error { return e.Err }

// Run runs a query to its end. plan has Placement.Local. On an error no output appears; on a source that
// did not end properly they hold what was read.
func Run(ctx context.Context, plan *query.Plan, opt Options) (*Report, error) {
	if opt.MemoryBytes == 0 {
		opt.MemoryBytes = 64 << 20
	}
	began := opt.Env.Time().Now()
	r := &runner{plan: plan, opt: opt, byName: make(map[string]*stream)}
	if err := r.checkPaths(); err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, s := range r.streams {
		g.Go(func() error { return s.read(gctx) })
	}
	g.Go(func() error { return r.run(gctx) })
	err := g.Wait()
	if err == nil {
		err = r.finish(ctx)
	}
	if err = errors.Join(err, r.close()); err != nil {
		return nil, err
	}
	return r.report(opt.Env.Time().Now().Sub(began)), nil
}
