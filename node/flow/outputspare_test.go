package flow

import (
	"testing"

	"fednode/query/tuple"
)

// TestTailBehindSinks shows that a reader which is not counted, and is a little slower than the one that acknowledges, is given
// every row all the same, over a reconnect too; that this holds nothing back; and that it is the first to go when the output
// fills.
func TestTailBehindSinks(t *testing.T) {
	const limit = 1 << 20
	start := tuple.Position{Time: tuple.MinTime}
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: limit, Generation: 1, Start: start, Expected: []string{"sink"}})
	tail, err := out.Open(Subscriber{Name: "tail", From: start})
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(1)
	for id := uint64(1); id <= 300; id++ {
		out.Append(insertion(id, 1))
		out.Append(boundary(tuple.Time(id + 1)))
		out.Ack("sink", tuple.Position{Generation: 1, ID: id, Time: tuple.Time(id + 1)})
		if id == 100 { // it comes again, from where it is
			if tail, err = out.Open(Subscriber{Name: "tail", From: tuple.Position{Generation: 1, ID: next - 1, Time: tuple.Time(next)}}); err != nil {
				t.Fatal(err)
			}
		}
		for id%50 == 0 && next <= id {
			f, err := tail.Next(t.Context())
			if err != nil {
				t.Fatalf("at id %d of %d: %v", next, id, err)
			}
			if f.Kind == tuple.Insertion {
				if f.FirstID != next {
					t.Fatalf("id %d, want %d", f.FirstID, next)
				}
				next++
			}
		}
	}
	held, _ := out.Held()
	if spare := out.Spare(); held != 0 || len(out.Entries().Held) != 0 || spare == 0 || spare > limit/spareShare {
		t.Fatalf("%d bytes held, %d spare", held, spare)
	}
	for id := uint64(301); ; id++ {
		out.Append(insertion(id, 1))
		if held, _ := out.Held(); 2*held >= limit {
			break
		}
	}
	if spare := out.Spare(); spare != 0 {
		t.Fatalf("%d bytes are spare beside an output that is half full", spare)
	}
	if _, err := out.Open(Subscriber{Name: "tail", From: tuple.Position{Generation: 1, ID: 299}}); truncated(err) == nil {
		t.Fatalf("got %v, want to be told of what is gone", err)
	}
}

// TestTailBeforeDroppedGeneration shows that a reader which had come at the beginning, and was given nothing before all of the
// first generation was dropped, is told so: the ids of the next one begin anew, and would continue its own.
func TestTailBeforeDroppedGeneration(t *testing.T) {
	start := tuple.Position{Time: tuple.MinTime}
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1, Generation: 1, Start: start, Expected: []string{"sink"}})
	tail, err := out.Open(Subscriber{Name: "tail", From: start})
	if err != nil {
		t.Fatal(err)
	}
	out.Append(insertion(1, 10))
	out.Append(boundary(11))
	out.Append(&tuple.Frame{Kind: tuple.Gap, Generation: 2, Time: 11, To: 20, Reason: "lost"})
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 2, Time: 20})
	out.Ack("sink", tuple.Position{Generation: 2, Time: 20})
	if at := out.Truncated(); at != (tuple.Position{Generation: 2, Time: 20}) {
		t.Fatalf("dropped up to %v", at)
	}
	next := insertion(1, 10)
	next.Generation = 2
	out.Append(next)
	f, err := tail.Next(t.Context())
	if gone := truncated(err); gone == nil || gone.First.Generation != 2 {
		t.Fatalf("given %v, %v; want to be told of what is gone", f, err)
	}
}
