package op_test

import (
	"errors"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// discard takes everything.
type discard struct{}

func (discard) Batch(int, *tuple.Batch) error { return nil }

// A key that nearly all rows of both sides share makes as many pairs as their product. That stops the fragment, with the
// reason, before it fills the memory.
func TestJoinOfOneKeyIsStopped(t *testing.T) {
	in := []op.Input{modelInput(t, "l", "a"), modelInput(t, "r", "b")}
	p, err := optest.Build("join", "on = [\"k\"]\nwithin = \"1s\"", in)
	if err != nil {
		t.Fatal(err)
	}
	o := p.New()
	rows := make([]modelRow, 3000)
	for i := range rows {
		rows[i] = modelRow{at: 5, key: 7, value: int64(i)}
	}
	var limit *op.LimitError
	for port := range in {
		if err := o.Process(port, modelBatch(in[port].Schema, rows), discard{}); err != nil {
			t.Fatal(err)
		}
		_, err = o.Boundary(port, tuple.MaxTime, discard{})
	}
	if !errors.As(err, &limit) || limit.Limit <= 0 {
		t.Fatalf("9 million pairs of one instant: %v", err)
	}
}

// The same rows a millisecond apart are many pairs too, but only as many at once as one row has partners.
func TestSkewedJoinRunsInLittleMemory(t *testing.T) {
	in := []op.Input{modelInput(t, "l", "a"), modelInput(t, "r", "b")}
	p, err := optest.Build("join", "on = [\"k\"]\nwithin = \"200ms\"", in)
	if err != nil {
		t.Fatal(err)
	}
	o := p.New()
	rows := make([]modelRow, 5000)
	for i := range rows {
		rows[i] = modelRow{at: int64(i), key: 7, value: 1}
	}
	sink := &countRows{}
	for port := range in {
		if err := o.Process(port, modelBatch(in[port].Schema, rows), sink); err != nil {
			t.Fatal(err)
		}
	}
	for port := range in {
		if _, err := o.Boundary(port, tuple.MaxTime, sink); err != nil {
			t.Fatal(err)
		}
	}
	// Every row pairs with the 401 within 200 ms of it, fewer at the ends.
	if want := 5000*401 - 200*201; sink.rows != want {
		t.Fatalf("%d pairs, want %d", sink.rows, want)
	}
	if o.StateBytes() > 1<<20 {
		t.Fatalf("%d bytes of state after the end", o.StateBytes())
	}
}

// Operators without state allocate nothing once their buffers have grown.
func TestNoAllocationPerBatch(t *testing.T) {
	s, err := optest.Schema("src ip, dport int64, bytes int64, f float64")
	if err != nil {
		t.Fatal(err)
	}
	in := op.Input{Name: "in", Schema: s}
	bb := tuple.NewBatchBuilder(s)
	for i := range 2000 {
		bb.AppendBin(0, []byte{10: 0xff, 11: 0xff, 12: 10, 15: byte(i)})
		bb.AppendInt(1, int64(i%3000))
		bb.AppendInt(2, int64(i))
		bb.AppendFloat(3, float64(i))
		bb.EndRow(tuple.Time(i))
	}
	b := bb.Take()
	for kind, text := range map[string]string{
		"filter": `where = "dport < 1024 and bytes > 100"`,
		"map":    `columns = { src = "src", bits = "bytes * 8", half = "f / 2" }`,
		"router": `routes = [{ name = "a", where = "dport < 80" }, { name = "b", where = "bytes > 500" }]`,
		"sample": "fraction = 0.5\nby = [\"src\"]",
	} {
		p, err := optest.Build(kind, text, []op.Input{in})
		if err != nil {
			t.Fatal(err)
		}
		o := p.New()
		var out op.Out = discard{}
		process := func() {
			if err := o.Process(0, b, out); err != nil {
				t.Fatal(err)
			}
		}
		process()
		if n := testing.AllocsPerRun(20, process); n > 0 {
			t.Errorf("%s: %v allocations a batch", kind, n)
		}
	}
}
