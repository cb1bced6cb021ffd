package local

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"fednode/query/tuple"
	"fednode/sunion"
)

const (
	// mergeRuns is how many runs are merged at once. Each takes a read buffer and a batch.
	mergeRuns = 128
	// runBatchBytes is about how large the batches of a run are in memory.
	runBatchBytes = 256 << 10
	runReadBytes  = 64 << 10
)

// runs are sequences of sorted batches in a temporary file, one after the other.
type runs struct {
	schema *tuple.Schema
	fanIn  int

	file    *os.File
	name    string // to be removed at the end; "" if it is gone already
	w       *bufio.Writer
	at      int64
	extents []extent
}

// extent is where a run lies in the file.
type extent struct{ off, end int64 }

func newRuns(schema *tuple.Schema, dir string, fanIn int) (*runs, error) {
	f, err := os.CreateTemp(dir, "fednode-sort-*")
	if err != nil {
		return nil, err
	}
	r := &runs{schema: schema, fanIn: fanIn, file: f, name: f.Name(), w: bufio.NewWriterSize(f, 1<<20)}
	if os.Remove(r.name) == nil {
		r.name = "" // where open files can be removed, nothing stays behind a killed process
	}
	return r, nil
}

// add writes the batches that fill hands to write as one run.
func (r *runs) add(fill func(write func(*tuple.Batch) error) error) error {
	x, err := r.write(fill)
	if err == nil {
		r.extents = append(r.extents, x)
	}
	return err
}

func (r *runs) write(fill func(write func(*tuple.Batch) error) error) (extent, error) {
	start := r.at
	var e tuple.Encoder
	err := fill(func(b *tuple.Batch) error {
		e.B = append(e.B[:0], 0, 0, 0, 0)
		e.Batch(b)
		if len(e.B)-4 > math.MaxUint32 {
			return fmt.Errorf("a batch of %d rows takes %d bytes", b.Rows(), len(e.B))
		}
		binary.LittleEndian.PutUint32(e.B, uint32(len(e.B)-4))
		r.at += int64(len(e.B))
		_, err := r.w.Write(e.B)
		return err
	})
	if err == nil {
		err = r.w.Flush()
	}
	return extent{start, r.at}, err
}

// reduce merges runs into longer ones until they can all be merged at once.
func (r *runs) reduce() error {
	for len(r.extents) > r.fanIn {
		var longer []extent
		for from := 0; from < len(r.extents); from += r.fanIn {
			group := r.extents[from:min(from+r.fanIn, len(r.extents))]
			x, err := r.write(func(write func(*tuple.Batch) error) error { return r.merge(group, write) })
			if err != nil {
				return err
			}
			longer = append(longer, x)
		}
		r.extents = longer
	}
	return nil
}

// merge reads runs side by side and hands on their rows in order, each batch borrowed. The union's boundary of a run is
// its last row read: the lowest of them limits what can be handed on, and that run is read next.
func (r *runs) merge(group []extent, out func(*tuple.Batch) error) error {
	u, err := sunion.New(sunion.Config{Schema: r.schema, Inputs: len(group), Bucket: 1})
	if err != nil {
		return err
	}
	readers := make([]*runReader, len(group))
	for n, x := range group {
		readers[n] = &runReader{r: bufio.NewReaderSize(io.NewSectionReader(r.file, x.off, x.end-x.off), runReadBytes), id: 1}
	}
	for {
		low := -1
		for n, rd := range readers {
			if !rd.done && (low < 0 || u.InputBoundary(n) < u.InputBoundary(low)) {
				low = n
			}
		}
		if low >= 0 {
			if err := readers[low].next(u, low, r.schema); err != nil {
				return fmt.Errorf("read back: %w", err)
			}
		}
		if err := u.Release(u.Stable(), out); err != nil || low < 0 {
			return err
		}
	}
}

func (r *runs) close() error {
	err := r.file.Close()
	if r.name != "" {
		err = errors.Join(err, os.Remove(r.name))
	}
	return err
}

// runReader reads one run, a batch at a time.
type runReader struct {
	r    *bufio.Reader
	id   uint64
	done bool
	buf  []byte
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
	length := int(binary.LittleEndian.Uint32(size[:]))
	if cap(r.buf) < length {
		r.buf = make([]byte, length)
	}
	r.buf = r.buf[:length]
	if _, err := io.ReadFull(r.r, r.buf); err != nil {
		return err
	}
	d := tuple.NewDecoder(r.buf)
	b := d.Batch(schema) // it shares nothing with the buffer
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
