package flow

import (
	"errors"
	"testing"

	"fednode/query/tuple"
)

var schema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

func insertion(first, n uint64) *tuple.Frame {
	b := tuple.NewBatchBuilder(schema)
	for i := range n {
		b.AppendInt(0, int64(first+i))
		b.EndRow(tuple.Time(first + i))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: b.Take()}
}

// TestFull shows that an output says when it is full and when room has been made, and that a closed one ends its
// readers.
func TestFull(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"me"}})
	if full, _ := out.Full(); full {
		t.Fatal("an empty output is full")
	}
	out.Append(insertion(1, 1))
	full, changed := out.Full()
	if !full {
		t.Fatal("an output over its limit is not full")
	}
	out.Ack("me", tuple.Position{Generation: 1, ID: 1, Time: 5})
	<-changed
	if full, _ = out.Full(); full {
		t.Fatal("still full after everything was acknowledged")
	}
	c, err := out.Open(Subscriber{Name: "tail", From: out.Head()})
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	if _, err := c.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
}

// TestPartnerLapses shows that a subscriber of another organisation never fills an output: when it is full, the partner is
// no longer counted; our own subscribers are.
func TestPartnerLapses(t *testing.T) {
	var lapsed []string
	out := NewOutput(OutputConfig{Name: "north/q/o", Schema: schema, Limit: 4000, Generation: 1, Start: tuple.Position{Time: tuple.MinTime},
		Expected: []string{"north/n1/q/f", "south/s1/q/g"}, Own: "north/", Lapsed: func(who string) { lapsed = append(lapsed, who) }})
	for id := uint64(1); id < 100; id += 3 {
		out.Append(insertion(id, 3))
		out.Ack("north/n1/q/f", tuple.Position{Generation: 1, ID: id + 2, Time: tuple.MinTime})
	}
	if full, _ := out.Full(); full || len(lapsed) != 1 || lapsed[0] != "south/s1/q/g" {
		t.Fatalf("full %v, lapsed %v; want the partner alone to lapse", full, lapsed)
	}
	for id := uint64(100); id < 200; id += 3 { // nobody acknowledges any more
		out.Append(insertion(id, 3))
	}
	if full, _ := out.Full(); !full || len(lapsed) != 1 {
		t.Fatalf("full %v, lapsed %v; want our own subscriber to be waited for", full, lapsed)
	}
}
