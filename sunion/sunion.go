package sunion

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"fednode/query/tuple"
)

// Config fixes an SUnion.
type Config struct {
	// Schema of every input.
	Schema *tuple.Schema
	// Inputs is the number of streams, at least 1.
	Inputs int
	// Bucket is the bucket size d in microseconds, positive.
	Bucket int64
	// Unordered hands on the rows of a bucket in any order, as ranges of the batches they came in. It is for paths on
	// which every operator up to one that restores order is order-insensitive.
	Unordered bool
	// MaxRows cuts what Release hands on into batches of at most so many rows; 0 means 4,096.
	MaxRows int
	// SuffixRows is how many tentative rows are held of one input that nobody takes; 0 means 1 million.
	SuffixRows int
	// ReplayRows is how many tentative rows of one input are kept, for another fork, that have gone to the fork; 0 is none.
	ReplayRows int
	// SuffixBytes is how much memory the tentative rows of one input may hold, those for another fork included; 0 means 256 MiB.
	SuffixBytes int64
}

// ErrBelowBoundary means that a producer broke its promise: a row came with an stime below a boundary it had sent.
var ErrBelowBoundary = errors.New("row below its stream's boundary")

// SUnion collects the rows of its inputs until their buckets are released.
type SUnion struct {
	cfg    Config
	inputs []input
	// released is the end of the last released bucket; rows before it have been handed on.
	released tuple.Time
	// forked is the same for the tentative side, MinTime while there is none.
	forked tuple.Time
	merge  merger
	one    []run // scratch of Release
	view   view
}

// input is one stream: what it promised and which rows wait.
type input struct {
	boundary tuple.Time
	// lastID is the highest id received; generation is that of the ids.
	generation uint64
	lastID     uint64
	chunks     []*chunk // in id order; exhausted ones are removed
	// resumeTime: rows before it were consumed in an earlier life and are dropped.
	resumeTime tuple.Time
	rows       int
	bytes      int64 // of all chunks
	dicts      tuple.Dictionaries
	suffix     suffix
}

// chunk is one received batch of which some rows wait.
type chunk struct {
	batch *tuple.Batch // dense, owned
	// size is that of the batch in memory, which is there as long as one row waits: dict of it are values in dictionaries.
	size, dict int64
	// order lists the rows by (stime, id); nil means that the rows already stand so.
	order []uint32
	next  int // first waiting entry of order (or row)
	first uint64
	ids   []uint64
}

// New returns an SUnion that has seen nothing.
func New(cfg Config) (*SUnion, error) {
	if cfg.Inputs < 1 || cfg.Bucket <= 0 || cfg.Schema == nil {
		return nil, fmt.Errorf("sunion: %d inputs, bucket %dµs: both must be positive, and a schema given", cfg.Inputs, cfg.Bucket)
	}
	if cfg.MaxRows <= 0 {
		cfg.MaxRows = 4096
	}
	if cfg.SuffixRows <= 0 {
		cfg.SuffixRows = 1 << 20
	}
	if cfg.SuffixBytes <= 0 {
		cfg.SuffixBytes = 256 << 20
	}
	u := &SUnion{cfg: cfg, inputs: make([]input, cfg.Inputs), released: tuple.MinTime, forked: tuple.MinTime}
	for i := range u.inputs {
		u.inputs[i].boundary = tuple.MinTime
		u.inputs[i].resumeTime = tuple.MinTime
		u.inputs[i].suffix.boundary, u.inputs[i].suffix.given = tuple.MinTime, nothingGiven()
	}
	u.merge.init(cfg.Schema)
	return u, nil
}

// Resume sets the place from which an input will be delivered: rows with stime below p.Time are dropped as consumed.
// It is called before the first Insert of that input. All inputs of one SUnion resume at the same bucket boundary.
func (u *SUnion) Resume(in int, p tuple.Position) {
	i := &u.inputs[in]
	i.resumeTime, i.boundary, i.lastID, i.generation = p.Time, p.Time, p.ID, p.Generation
	u.released = max(u.released, p.Time)
}

// Insert takes the rows of an INSERTION frame. The frame is owned and kept. Ids the input holds already are dropped, so
// that a replayed frame is harmless, and so are rows of a generation that it has left behind; a jump in ids is the caller's
// to refuse.
func (u *SUnion) Insert(in int, f *tuple.Frame) error {
	i := &u.inputs[in]
	if f.Generation < i.generation {
		return nil
	}
	if f.Generation > i.generation {
		i.generation, i.lastID = f.Generation, f.FirstID-1
	}
	if f.LastID <= i.lastID {
		return nil
	}
	f = f.After(i.lastID)
	c := &chunk{batch: dense(f.Batch), first: f.FirstID, ids: f.IDs}
	i.lastID = f.LastID
	if err := i.admit(c); err != nil {
		return fmt.Errorf("sunion: input %d: %w", in, err)
	}
	return nil
}

func dense(b *tuple.Batch) *tuple.Batch {
	if b.Sel == nil {
		return b
	}
	return b.Clone()
}

// admit orders the rows of a chunk by stime, drops those consumed in an earlier life and appends the chunk.
func (i *input) admit(c *chunk) error {
	if !c.batch.Ordered && !ordered(c.batch.Time) {
		c.sortRows()
	}
	c.next += c.before(i.resumeTime)
	n := c.waiting()
	if n == 0 {
		return nil
	}
	if first := c.batch.Time[c.row(c.next)]; first < i.boundary {
		return fmt.Errorf("%w: stime %v, boundary %v", ErrBelowBoundary, first, i.boundary)
	}
	c.dict = i.dicts.Grown(c.batch)
	c.weigh()
	i.chunks = append(i.chunks, c)
	i.rows += n
	i.bytes += c.size
	return nil
}

// ordered is slices.IsSorted at a fifth of its price: it runs for every row.
func ordered(t []tuple.Time) bool {
	for len(t) > 8 {
		w := t[:9]
		if w[0] > w[1] || w[1] > w[2] || w[2] > w[3] || w[3] > w[4] || w[4] > w[5] || w[5] > w[6] || w[6] > w[7] || w[7] > w[8] {
			return false
		}
		t = t[8:] // the last one looked at is the first of the next
	}
	return slices.IsSorted(t)
}

func (c *chunk) sortRows() {
	lo := c.next
	c.order = make([]uint32, len(c.batch.Time))
	for k := range c.order {
		c.order[k] = uint32(k)
	}
	t := c.batch.Time
	slices.SortStableFunc(c.order[lo:], func(a, b uint32) int {
		switch {
		case t[a] < t[b]:
			return -1
		case t[a] > t[b]:
			return 1
		}
		return 0
	})
}

// row returns the batch row of entry k.
func (c *chunk) row(k int) int {
	if c.order != nil {
		return int(c.order[k])
	}
	return k
}

func (c *chunk) waiting() int { return len(c.batch.Time) - c.next }

// before returns how many waiting rows have an stime below t.
func (c *chunk) before(t tuple.Time) int {
	n := c.waiting()
	if n == 0 || c.batch.Time[c.row(c.next)] >= t {
		return 0
	}
	if c.batch.Time[c.row(c.next+n-1)] < t {
		return n
	}
	return sort.Search(n, func(k int) bool { return c.batch.Time[c.row(c.next+k)] >= t })
}

// Boundary records that no later row of the input has stime < t. A lower boundary than before says nothing new.
func (u *SUnion) Boundary(in int, t tuple.Time) {
	i := &u.inputs[in]
	i.boundary = max(i.boundary, t)
	i.suffix.cover(i.boundary)
}

// InputBoundary returns the boundary of an input.
func (u *SUnion) InputBoundary(in int) tuple.Time { return u.inputs[in].boundary }

// Stable returns the end of the last bucket for which every input is complete: tuple.MaxTime when all have ended.
func (u *SUnion) Stable() tuple.Time {
	low := tuple.MaxTime
	for i := range u.inputs {
		low = min(low, u.inputs[i].boundary)
	}
	return low.FloorTo(u.cfg.Bucket, 0)
}

// Released returns the end of the last released bucket, tuple.MinTime before the first.
func (u *SUnion) Released() tuple.Time { return u.released }

// Release hands on every waiting row with stime < to, in the union's order, in borrowed batches. to is a bucket's end
// that Stable has reached. An error of out ends the release; the rows handed on are gone all the same.
func (u *SUnion) Release(to tuple.Time, out func(*tuple.Batch) error) error {
	if to <= u.released {
		return nil
	}
	u.released = to
	runs := u.one[:0]
	for n := range u.inputs {
		runs = u.inputs[n].take(to, runs)
	}
	return u.hand(runs, out)
}

// Pass passes over every row with stime < to, those that are still to come as well: to is a bucket's end, which Stable need not
// have reached.
func (u *SUnion) Pass(to tuple.Time) {
	if to <= u.released {
		return
	}
	u.released = to
	for n := range u.inputs {
		i := &u.inputs[n]
		i.resumeTime = max(i.resumeTime, to)
		u.one = i.take(to, u.one[:0])
		clear(u.one)
	}
	u.one = u.one[:0]
}

// hand hands on runs in the union's order. They lie in u.one.
func (u *SUnion) hand(runs []run, out func(*tuple.Batch) error) error {
	defer func() { clear(runs); u.one = runs[:0]; u.view.clear() }()
	switch {
	case len(runs) == 0:
		return nil
	case u.cfg.Unordered || len(runs) == 1:
		for _, r := range runs {
			if err := u.handRange(r, out); err != nil {
				return err
			}
		}
		return nil
	}
	return u.merge.run(runs, u.cfg.MaxRows, out)
}

// run is a stretch of one chunk's entries, in order of (stime, id).
type run struct {
	c      *chunk
	lo, hi int
}

func (r run) time(k int) tuple.Time { return r.c.batch.Time[r.c.row(k)] }

// take removes the rows with stime < to from the input and appends them as runs, chunk by chunk in id order.
func (i *input) take(to tuple.Time, runs []run) []run {
	kept := i.chunks[:0]
	for _, c := range i.chunks {
		if n := c.before(to); n > 0 {
			runs = append(runs, run{c: c, lo: c.next, hi: c.next + n})
			c.next += n
			i.rows -= n
		}
		if c.waiting() > 0 {
			kept = append(kept, c)
		} else {
			i.bytes -= c.size
		}
	}
	clear(i.chunks[len(kept):])
	i.chunks = kept
	return runs
}

// handRange hands on one run as views of the batch it came in.
func (u *SUnion) handRange(r run, out func(*tuple.Batch) error) error {
	for lo := r.lo; lo < r.hi; lo += u.cfg.MaxRows {
		if err := out(u.view.of(r.c, lo, min(lo+u.cfg.MaxRows, r.hi))); err != nil {
			return err
		}
	}
	return nil
}

// Position returns where an input has to be resumed when everything released so far need not come again: ids above
// Position.ID, rows from Position.Time on.
func (u *SUnion) Position(in int) tuple.Position {
	i := &u.inputs[in]
	p := tuple.Position{Generation: i.generation, Time: u.released, ID: i.lastID}
	for _, c := range i.chunks {
		for k := c.next; k < len(c.batch.Time); k++ {
			p.ID = min(p.ID, c.id(c.row(k))-1)
		}
	}
	return p
}

func (c *chunk) id(row int) uint64 {
	if c.ids != nil {
		return c.ids[row]
	}
	return c.first + uint64(row)
}

// Waiting returns how many rows wait in an input.
func (u *SUnion) Waiting(in int) int { return u.inputs[in].rows }

// Bytes estimates the memory of all rows that an input keeps: those that wait, tentative ones, and those for another fork.
func (u *SUnion) Bytes(in int) int64 {
	i := &u.inputs[in]
	return i.bytes + i.suffix.bytes + i.suffix.given.bytes
}

// weigh notes how much memory a chunk holds.
func (c *chunk) weigh() {
	c.size = c.dict + c.batch.Bytes() + int64(4*len(c.order)+8*len(c.ids))
}
