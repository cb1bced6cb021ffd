package local

import (
	"errors"
	"fmt"
	"iter"

	"fednode/query/tuple"
	"fednode/sunion"
)

// sorter puts the rows of a stream in order of (stime, arrival). What does not fit into memory is written in sorted runs
// and merged at the end: a run is earlier in arrival than the next, so an SUnion over the runs, in their order, restores
// exactly the stream's order.
type sorter struct {
	schema *tuple.Schema
	limit  int64 // bytes of held rows
	dir    string
	fanIn  int

	held  []*tuple.Batch
	rows  int
	bytes int64
	dicts tuple.Dictionaries
	runs  *runs // nil while everything is held
}

func newSorter(schema *tuple.Schema, limit int64, dir string) *sorter {
	return &sorter{schema: schema, limit: limit, dir: dir, fanIn: mergeRuns}
}

// add takes owned rows.
func (s *sorter) add(b *tuple.Batch) error {
	s.held = append(s.held, b)
	s.rows += b.Rows()
	s.bytes += b.Bytes() + s.dicts.Grown(b)
	if s.bytes < s.limit {
		return nil
	}
	return s.spill()
}

// inMemory hands on the held rows in order, in batches of at most so many.
func (s *sorter) inMemory(maxRows int, out func(*tuple.Batch) error) error {
	u, err := sunion.New(sunion.Config{Schema: s.schema, Inputs: 1, Bucket: 1, MaxRows: maxRows})
	if err != nil {
		return err
	}
	id := uint64(1)
	for _, b := range s.held {
		n := uint64(b.Rows())
		if err := u.Insert(0, &tuple.Frame{Kind: tuple.Insertion, FirstID: id, LastID: id + n - 1, Batch: b}); err != nil {
			return err
		}
		id += n
	}
	s.held, s.rows, s.bytes, s.dicts = nil, 0, 0, tuple.Dictionaries{}
	return u.Release(tuple.MaxTime, out)
}

// spill writes the held rows as one run.
func (s *sorter) spill() (err error) {
	if s.runs == nil {
		if s.runs, err = newRuns(s.schema, s.dir, s.fanIn); err != nil {
			return onDisk(err)
		}
	}
	maxRows := rowsOf(runBatchBytes, s.bytes, s.rows)
	return onDisk(s.runs.add(func(write func(*tuple.Batch) error) error { return s.inMemory(maxRows, write) }))
}

// rowsOf returns how many rows take about the wanted size, of rows that take bytes altogether: 1 to 4,096.
func rowsOf(wanted, bytes int64, rows int) int {
	return int(min(max(wanted*int64(rows)/max(bytes, 1), 1), 4096))
}

func onDisk(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sort on disk: %w; set TMPDIR to a directory with room", err)
}

// errStopped ends a drain whose receiver wants no more.
var errStopped = errors.New("stopped")

// all delivers all rows in order, each batch borrowed until the next; an error is the last thing it delivers.
func (s *sorter) all() iter.Seq2[*tuple.Batch, error] {
	return func(yield func(*tuple.Batch, error) bool) {
		err := s.drain(func(b *tuple.Batch) error {
			if !yield(b, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// drain hands on all rows in order, each batch borrowed.
func (s *sorter) drain(out func(*tuple.Batch) error) error {
	if s.runs == nil {
		return s.inMemory(0, out)
	}
	if len(s.held) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if err := s.runs.reduce(); err != nil {
		return onDisk(err)
	}
	if err := s.runs.merge(s.runs.extents, out); err != nil {
		return fmt.Errorf("sort on disk: %w", err)
	}
	return nil
}

func (s *sorter) close() error {
	if s.runs == nil {
		return nil
	}
	err := s.runs.close()
	s.runs = nil
	return err
}
