package op_test

import (
	"errors"
	"fmt"
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

// The limit of a join counts the rows that may still find partners, however far one side is ahead and wherever boundaries
// are: up to the limit nothing stops it, and one row more always does.
func TestJoinLimitDoesNotCountWhatWaits(t *testing.T) {
	// Every 10 ms a row on each side; a row lives for 95 ms, so that 10 of each side live at once.
	rows := make([]modelRow, 2000)
	for i := range rows {
		rows[i] = modelRow{at: int64(i) * 10, key: int64(i % 3), value: int64(i)}
	}
	for limit, stopped := range map[int]bool{19: true, 20: false} {
		for _, step := range []int{1, 7, len(rows)} { // rows between boundaries
			for _, lead := range []int{0, 1, 40, len(rows)} { // boundaries that the left side is ahead by
				err := runLimitedJoin(t, rows, limit, step, lead)
				var le *op.LimitError
				if errors.As(err, &le) != stopped || !stopped && err != nil {
					t.Fatalf("limit %d, a boundary every %d rows, %d boundaries ahead: %v", limit, step, lead, err)
				}
			}
		}
	}
}

func runLimitedJoin(t *testing.T, rows []modelRow, limit, step, lead int) error {
	t.Helper()
	in := []op.Input{modelInput(t, "l", "a"), modelInput(t, "r", "b")}
	p, err := optest.Build("join", fmt.Sprintf("on = [\"k\"]\nwithin = \"95ms\"\nlimit = %d", limit), in)
	if err != nil {
		t.Fatal(err)
	}
	o := p.New()
	buckets := (len(rows) + step - 1) / step
	give := func(port, bucket int) error {
		if bucket < 0 || bucket >= buckets {
			return nil
		}
		part := rows[bucket*step : min((bucket+1)*step, len(rows))]
		if err := o.Process(port, modelBatch(in[port].Schema, part), discard{}); err != nil {
			return err
		}
		_, err := o.Boundary(port, tuple.Time((part[len(part)-1].at+1)*1000), discard{})
		return err
	}
	for b := range buckets + lead {
		if err := errors.Join(give(0, b), give(1, b-lead)); err != nil {
			return err
		}
	}
	return nil
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
