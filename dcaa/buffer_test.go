package dcaa

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

var bufferSchema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

func insertion(first, n uint64, at tuple.Time) *tuple.Frame {
	b := tuple.NewBatchBuilder(bufferSchema)
	for i := range n {
		b.AppendInt(0, int64(first+i))
		b.EndRow(at)
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: b.Take()}
}

// TestReplay drives a buffer with random appends, acknowledgements and reconnects, and shows that a subscriber which
// resumes at its own position always receives exactly the ids and the highest boundary it lacks, whatever others do.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
		next, clock := uint64(1), tuple.Time(0)
		type reader struct {
			p, durable tuple.Position
			seq        uint64
		}
		start := tuple.Position{Time: tuple.MinTime}
		readers := map[string]*reader{"a": {p: start, durable: start}, "b": {p: start, durable: start}}
		for _, n := range []string{"a", "b"} {
			if err := b.Subscribe(n, readers[n].p, readers[n].p); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "reader")
			r := readers[name]
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				n := uint64(rapid.IntRange(1, 5).Draw(t, "rows"))
				b.Append(insertion(next, n, clock))
				next += n
			case 1:
				clock += 10
				b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: clock})
			case 2: // read one frame
				f, at, ok := b.Frame(r.seq)
				if !ok {
					continue
				}
				r.seq = at + 1
				if f.Kind == tuple.Insertion {
					if f.LastID <= r.p.ID {
						continue
					}
					if f.FirstID > r.p.ID+1 {
						t.Fatalf("%s at %v received %v: ids are missing", name, r.p, f)
					}
					r.p.ID = f.LastID
				} else {
					r.p.Time = max(r.p.Time, f.Time)
				}
			case 3:
				r.durable = r.p
				b.Ack(name, inGeneration(r.durable))
			case 4: // reconnect
				if err := b.Subscribe(name, inGeneration(r.p), inGeneration(r.durable)); err != nil {
					t.Fatal(err)
				}
				r.seq = b.Seek(r.p)
			case 5: // restart: what was not durable is asked for again
				r.p = r.durable
				if err := b.Subscribe(name, inGeneration(r.p), inGeneration(r.p)); err != nil {
					t.Fatal(err)
				}
				r.seq = b.Seek(r.p)
			}
		}
		for name, r := range readers {
			for {
				f, at, ok := b.Frame(r.seq)
				if !ok {
					break
				}
				r.seq = at + 1
				if f.Kind == tuple.Insertion && f.LastID > r.p.ID {
					if f.FirstID > r.p.ID+1 {
						t.Fatalf("%s at %v received %v: ids are missing", name, r.p, f)
					}
					r.p.ID = f.LastID
				} else if f.Kind == tuple.Boundary {
					r.p.Time = max(r.p.Time, f.Time)
				}
			}
			if r.p.ID != next-1 || clock > 0 && r.p.Time != tuple.MinTime && r.p.Time != clock {
				t.Fatalf("%s ended at %v, the stream at id %d time %v", name, r.p, next-1, clock)
			}
			b.Ack(name, tuple.Position{Generation: 1, Time: clock, ID: next - 1})
		}
		if b.Len() != 0 || b.Bytes() != 0 {
			t.Fatalf("%d frames, %d bytes held after all was acknowledged", b.Len(), b.Bytes())
		}
	})
}

func inGeneration(p tuple.Position) tuple.Position {
	p.Generation = 1
	return p
}

// TestTruncated shows that asking for what is gone says so and names the oldest place that is left.
func TestTruncated(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
	if err := b.Subscribe("a", tuple.Position{Time: tuple.MinTime}, tuple.Position{Time: tuple.MinTime}); err != nil {
		t.Fatal(err)
	}
	b.Append(insertion(1, 5, 1))
	b.Append(insertion(6, 5, 2))
	b.Ack("a", tuple.Position{Generation: 1, ID: 5, Time: tuple.MinTime})
	var gone *TruncatedError
	if err := b.Subscribe("late", tuple.Position{Generation: 1, ID: 2}, tuple.Position{}); !errors.As(err, &gone) || gone.First.ID != 5 {
		t.Fatalf("got %v, want a TruncatedError from id 5", err)
	}
	if err := b.Subscribe("other", tuple.Position{Generation: 7, ID: 5}, tuple.Position{}); !errors.As(err, &gone) {
		t.Fatalf("got %v, want a TruncatedError for another generation", err)
	}
	b.Ack("nobody", tuple.Position{Generation: 1, ID: 10, Time: tuple.MaxTime})
	if b.Len() != 1 {
		t.Fatalf("%d frames held, want 1: an unknown neighbour acknowledged nothing", b.Len())
	}
}

// TestQuietStream shows that boundaries of a stream without rows, which nobody acknowledges, stay few, and that a
// subscriber in the middle of them still reaches the last.
func TestQuietStream(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
	if err := b.Subscribe("a", tuple.Position{Time: tuple.MinTime}, tuple.Position{Time: tuple.MinTime}); err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	for i := range tuple.Time(10000) {
		b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: i})
		if i == 5000 {
			seq = b.Seek(tuple.Position{ID: 0, Time: 5000}) // it knows all so far and waits for the next
		}
	}
	if b.Len() > 100 {
		t.Fatalf("%d frames held", b.Len())
	}
	last := tuple.Time(-1)
	for {
		f, at, ok := b.Frame(seq)
		if !ok {
			break
		}
		last, seq = f.Time, at+1
	}
	if last != 9999 {
		t.Fatalf("the subscriber reached %v, want 9999", last)
	}
}

// TestBufferCountsStrings shows that results count by what their strings take: those that do not repeat lie in dictionaries, which
// frames share, and are most of what is held.
func TestBufferCountsStrings(t *testing.T) {
	const frames, text = 200, 1000
	schema := tuple.MustSchema(tuple.Field{Name: "s", Type: tuple.Of(tuple.String)})
	rows := tuple.NewBatchBuilder(schema)
	b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
	if err := b.Subscribe("a", tuple.Position{Time: tuple.MinTime}, tuple.Position{Time: tuple.MinTime}); err != nil {
		t.Fatal(err)
	}
	batch := func(n uint64) *tuple.Batch {
		for k := range uint64(10) {
			rows.AppendBin(0, fmt.Appendf(nil, "%0*d", text, 10*n+k))
			rows.EndRow(tuple.Time(n))
		}
		return rows.Take()
	}
	for n := range uint64(frames) {
		b.Append(&tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: 10*n + 1, LastID: 10*n + 10, Batch: batch(n)})
	}
	if n := b.Bytes(); n < frames*10*text || n > frames*10*text*5/4 {
		t.Errorf("%d bytes are held, the strings take %d", n, frames*10*text)
	}
	b.Ack("a", tuple.Position{Generation: 1, ID: 10 * frames})
	if n := b.Bytes(); n != 0 {
		t.Errorf("%d bytes are held when all is acknowledged", n)
	}
	for n := range uint64(frames) {
		b.AppendTentative(&tuple.Frame{Kind: tuple.Tentative, Run: tuple.Run{Producer: "p", N: 1}, FirstID: 10*n + 1, LastID: 10*n + 10, Batch: batch(frames + n)}, 20*10*text)
	}
	if n := b.RunBytes(); n > 20*10*text || n < 10*10*text {
		t.Errorf("%d bytes of a run are held, want at most %d", n, 20*10*text)
	}
}
