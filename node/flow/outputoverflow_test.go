package flow

import (
	"errors"
	"testing"

	"fednode/query/tuple"
)

// shelf is an overflow in memory.
type shelf struct {
	records map[uint64][]*tuple.Frame
	last    uint64
	full    error
	during  func() // what happens while the disk is waited for; nil is nothing
}

func (s *shelf) Put(frames []*tuple.Frame) (n int, record uint64, bytes int64, err error) {
	if s.full != nil {
		return 0, 0, 0, s.full
	}
	if s.during != nil {
		s.during()
	}
	s.last++
	s.records[s.last] = frames
	return len(frames), s.last, 1000, nil
}

func (s *shelf) Get(record uint64) ([]*tuple.Frame, error) {
	if f, ok := s.records[record]; ok {
		return f, nil
	}
	return nil, ErrLost
}

func (s *shelf) Free(below uint64) error {
	for r := range s.records {
		if below == 0 || r < below {
			delete(s.records, r)
		}
	}
	return nil
}

func boundary(t tuple.Time) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: t}
}

// fill appends rows until the output is full or has so many, spilling as its loop would.
func fill(t *testing.T, o *Output, from, to uint64) (last uint64) {
	t.Helper()
	for id := from; id <= to; id++ {
		if full, _ := o.Full(); full {
			return id - 1
		}
		o.Append(insertion(id, 1))
		o.Append(boundary(tuple.Time(id + 1)))
		spill(o)
	}
	return to
}

func spill(o *Output) {
	for {
		if more, err := o.Spill(); !more || err != nil {
			return
		}
	}
}

// TestSpill shows that an output whose reader is away puts what does not fit elsewhere, up to its limit, and then is full; the
// reader gets all of it in order, and what it has acknowledged is freed.
func TestSpill(t *testing.T) {
	s := &shelf{records: make(map[uint64][]*tuple.Frame)}
	start := tuple.Position{Time: tuple.MinTime}
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 100_000, Generation: 1, Start: start, Expected: []string{"me"}, Overflow: s, OverflowBytes: 20_000})
	last := fill(t, out, 1, 1_000_000)
	held, limit := out.Held()
	if sp := out.Spilled(); sp.Bytes < 20_000 || held < limit || len(s.records) < 20 {
		t.Fatalf("full with %d bytes in memory and %+v elsewhere, in %d records", held, sp, len(s.records))
	}
	c, err := out.Open(Subscriber{Name: "me", From: start, Durable: start, Counted: true})
	if err != nil {
		t.Fatal(err)
	}
	next, complete := uint64(1), tuple.MinTime
	for next <= last {
		f, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f.Kind == tuple.Boundary && f.Time > complete:
			complete = f.Time
		case f.Kind == tuple.Insertion && f.FirstID == next && f.Batch.Time[0] >= complete:
			next = f.LastID + 1
		default:
			t.Fatalf("frame %v of ids %d to %d at %v, behind id %d and boundary %v", f.Kind, f.FirstID, f.LastID, f.Time, next-1, complete)
		}
		if next%100 == 0 {
			out.Ack("me", tuple.Position{Generation: 1, ID: next - 1, Time: complete})
			spill(out)
		}
	}
	out.Ack("me", tuple.Position{Generation: 1, ID: last, Time: tuple.Time(last + 1)})
	spill(out)
	if full, _ := out.Full(); full || len(s.records) != 0 || out.Spilled().Bytes != 0 {
		t.Fatalf("full %v, %d records and %d bytes are left", full, len(s.records), out.Spilled().Bytes)
	}
}

// TestSpillToFullDisk shows that an output whose disk is full holds what it may in memory, is full then, and goes on by itself
// when there is space.
func TestSpillToFullDisk(t *testing.T) {
	s := &shelf{records: make(map[uint64][]*tuple.Frame), full: errors.New("no space")}
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 50_000, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"me"}, Overflow: s, OverflowBytes: 1 << 20})
	last := fill(t, out, 1, 1_000_000)
	if full, _ := out.Full(); !full || !errors.Is(out.Spilled().Cause, s.full) {
		t.Fatalf("full %v, because %v", full, out.Spilled().Cause)
	}
	s.full = nil
	_, changed := out.Full()
	spill(out)
	<-changed
	if more := fill(t, out, last+1, last+500); more != last+500 || out.Spilled().Cause != nil {
		t.Fatalf("%d rows more, because %v", more-last, out.Spilled().Cause)
	}
}

// TestSpilledIsLost shows that a reader learns of rows whose record is damaged by being told that they are gone, and that nobody
// misses any others: neither who reads it, nor who comes later, nor who is not counted.
func TestSpilledIsLost(t *testing.T) {
	s := &shelf{records: make(map[uint64][]*tuple.Frame)}
	start := tuple.Position{Time: tuple.MinTime}
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 50_000, Generation: 1, Start: start, Expected: []string{"me"}, Overflow: s, OverflowBytes: 1 << 20})
	last := fill(t, out, 1, 400)
	var lost []uint64 // first and last
	for _, f := range s.records[2] {
		if f.Kind == tuple.Insertion {
			lost = append(lost, f.FirstID, f.LastID)
		}
	}
	delete(s.records, 2)
	for _, counted := range []bool{true, true, false} {
		next, at := uint64(1), start
		for holes := 0; next <= last; holes++ {
			c, err := out.Open(Subscriber{Name: "me", From: at, Durable: start, Counted: counted})
			for err == nil && next <= last {
				var f *tuple.Frame
				if f, err = c.Next(t.Context()); err == nil {
					if f.Kind == tuple.Insertion && f.FirstID != next {
						t.Fatalf("id %d, want %d", f.FirstID, next)
					}
					at = at.Past(f)
					next = at.ID + 1
				}
			}
			if err == nil {
				break
			}
			gone := truncated(err)
			if gone == nil || next != lost[0] || gone.First.ID != lost[len(lost)-1] || holes > 1 {
				t.Fatalf("%v at id %d; lost are %v", err, next, lost)
			}
			// Who reads is told when it comes to the hole, and again, at once, when it asks for the same.
			if c, err := out.Open(Subscriber{Name: "me", From: at, Durable: start, Counted: counted}); truncated(err) == nil {
				t.Fatalf("%v, %v", c, err)
			}
			at = gone.First
			next = at.ID + 1
		}
	}
}

// TestGiveUp shows that an output which may give up old results goes on when it can hold no more: the reader is told how far
// they are gone and has the last of them, and less than the window that is kept is never given up.
func TestGiveUp(t *testing.T) {
	s := &shelf{records: make(map[uint64][]*tuple.Frame)}
	var upTo tuple.Position
	start := tuple.Position{Time: tuple.MinTime}
	open := func(keep int64) *Output {
		return NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 50_000, Generation: 1, Start: start, Expected: []string{"me"}, Overflow: s, OverflowBytes: 20_000,
			Keep: keep, GivenUp: func(p tuple.Position) { upTo = p }})
	}
	out := open(100)
	const rows = 5000
	if last := fill(t, out, 1, rows); last != rows {
		t.Fatalf("it is full after %d rows", last)
	}
	_, err := out.Open(Subscriber{Name: "me", From: start, Durable: start, Counted: true})
	gone := truncated(err)
	if gone == nil || gone.First.ID != upTo.ID || gone.First.ID > rows-100 || gone.First.ID < rows/2 {
		t.Fatalf("%v, given up to %v", err, upTo)
	}
	c, err := out.Open(Subscriber{Name: "me", From: gone.First, Durable: gone.First, Counted: true})
	if err != nil {
		t.Fatal(err)
	}
	for next := gone.First.ID + 1; next <= rows; {
		f, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == tuple.Insertion {
			if f.FirstID != next {
				t.Fatalf("id %d, want %d", f.FirstID, next)
			}
			next++
		}
	}
	s.records = make(map[uint64][]*tuple.Frame)
	if last := fill(t, open(rows), 1, rows); last == rows {
		t.Fatal("it gave up what it has to keep")
	}
}

// TestSpillOvertaken shows that a record of frames that were all acknowledged while it was written does not stay.
func TestSpillOvertaken(t *testing.T) {
	s := &shelf{records: make(map[uint64][]*tuple.Frame)}
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 100_000, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"me"}, Overflow: s, OverflowBytes: 20_000})
	s.during = func() { out.Ack("me", out.Head()) }
	for id := uint64(1); s.last == 0; id++ {
		if id == 10_000 {
			t.Fatal("nothing was put elsewhere")
		}
		out.Append(insertion(id, 1))
		out.Append(boundary(tuple.Time(id + 1)))
		spill(out)
	}
	spill(out)
	if len(s.records) != 0 || out.Spilled().Bytes != 0 {
		t.Fatalf("%d records and %d bytes are left", len(s.records), out.Spilled().Bytes)
	}
}
