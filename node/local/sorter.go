package local

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/sunion"
)

// sorter puts the rows of a stream in order of (stime, arrival). What does not fit into memory is written in sorted runs
// to a temporary file and merged at the end: a run is earlier in arrival than the next, so an SUnion over the runs, in
// their order, restores exactly the stream's order.
type sorter struct {
	schema *tuple.Schema
	limit  int64
	dir    string

	held  []*tuple.Batch
	bytes int64
	file  *os.File
	w     *bufio.Writer
	runs  []extent
	at    int64
}

// extent is where a run lies in the file.
type extent struct{ off, end int64 }

func newSorter(schema *tuple.Schema, limit int64, dir string) *sorter {
	return &sorter{schema: schema, limit: limit, dir: dir}
}

// add takes owned rows.
func (s *sorter) add(b *tuple.Batch) error {
	s.held = append(s.held, b)
	s.bytes += dcaa.FrameBytes(&tuple.Frame{Batch: b})
	if s.bytes < s.limit {
		return nil
	}
	return s.spill()
}

// inMemory hands on the held rows in order.
func (s *sorter) inMemory(out func(*tuple.Batch) error) error {
	u, err := sunion.New(sunion.Config{Schema: s.schema, Inputs: 1, Bucket: 1})
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
	s.held, s.bytes = nil, 0
	return u.Release(tuple.MaxTime, out)
}

// spill writes the held rows as one run.
func (s *sorter) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "fednode-sort-*")
		if err != nil {
			return fmt.Errorf("sort on disk: %w; set TMPDIR to a directory with room", err)
		}
		s.file, s.w = f, bufio.NewWriterSize(f, 1<<20)
	}
	start := s.at
	var e tuple.Encoder
	err := s.inMemory(func(b *tuple.Batch) error {
		e.B = append(e.B[:0], 0, 0, 0, 0)
		e.Batch(b)
		binary.LittleEndian.PutUint32(e.B, uint32(len(e.B)-4))
		s.at += int64(len(e.B))
		_, err := s.w.Write(e.B)
		return err
	})
	if err == nil {
		err = s.w.Flush()
	}
	if err != nil {
		return fmt.Errorf("sort on disk: %w; set TMPDIR to a directory with room", err)
	}
	s.runs = append(s.runs, extent{start, s.at})
	return nil
}

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

// errStopped ends a drain whose receiver wants no more.
var errStopped = errors.New("stopped")

// drain hands on all rows in order, each batch borrowed.
func (s *sorter) drain(out func(*tuple.Batch) error) error {
	if s.file == nil {
		return s.inMemory(out)
	}
	if len(s.held) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	return s.merge(out)
}

// runReader reads one run, a batch at a time.
type runReader struct {
	r    *bufio.Reader
	id   uint64
	done bool
}

// merge reads the runs side by side. The union's boundary of a run is its last row read: the lowest of them limits what
// can be handed on, and that run is read next.
func (s *sorter) merge(out func(*tuple.Batch) error) error {
	u, err := sunion.New(sunion.Config{Schema: s.schema, Inputs: len(s.runs), Bucket: 1})
	if err != nil {
		return err
	}
	readers := make([]*runReader, len(s.runs))
	for n, x := range s.runs {
		readers[n] = &runReader{r: bufio.NewReaderSize(io.NewSectionReader(s.file, x.off, x.end-x.off), 256<<10), id: 1}
	}
	for {
		low := -1
		for n, r := range readers {
			if !r.done && (low < 0 || u.InputBoundary(n) < u.InputBoundary(low)) {
				low = n
			}
		}
		if low >= 0 {
			if err := readers[low].next(u, low, s.schema); err != nil {
				return fmt.Errorf("sort on disk: %w", err)
			}
		}
		if err := u.Release(u.Stable(), out); err != nil || low < 0 {
			return err
		}
	}
}

// next reads the run's next batch into the union.
func (r *runReader) next(u *sunion.SUnion, n int, schema *tuple.Schema) error {
	var size [4]byte
	if _, err := io.ReadFull(r.r, size[:]); errors.Is(err, io.EOF) {
		r.done = true
		u.Boundary(n, tuple.MaxTime)
		return nil
	} else if err != nil {
		return err
	}
	buf := make([]byte, binary.LittleEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r.r, buf); err != nil {
		return err
	}
	d := tuple.NewDecoder(buf)
	b := d.Batch(schema)
	if err := d.Close(); err != nil {
		return err
	}
	rows := uint64(len(b.Time))
	f := &tuple.Frame{Kind: tuple.Insertion, FirstID: r.id, LastID: r.id + rows - 1, Batch: b}
	r.id += rows
	if err := u.Insert(n, f); err != nil {
		return err
	}
	u.Boundary(n, b.Time[rows-1])
	return nil
}

func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := errors.Join(s.file.Close(), os.Remove(name))
	s.file = nil
	return err
}
