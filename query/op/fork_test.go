package op_test

import (
	"fmt"
	"runtime"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// A fork is taken whenever results become tentative, so it must not cost what the state holds.
func TestForkCostsLittle(t *testing.T) {
	const rows = 200_000
	for _, c := range []struct{ kind, text string }{
		{"join", "on = [\"k\"]\nwithin = \"1h\"\ncolumns = { l = \"left.n\", r = \"right.n\" }"},
		{"dedup", "by = [\"k\"]\nwithin = \"1h\""},
		{"throttle", "key = [\"k\"]\ntype = \"limit\"\ncount = 1\nper = \"1h\""},
		{"over", "key = [\"k\"]\nadd = { l = \"lag(n)\" }\nttl = \"1h\""},
		{"pattern", "key = [\"k\"]\nwithin = \"1h\"\nsteps = [{ name = \"a\", where = \"n >= 0\" }, { name = \"b\", where = \"n < 0\" }]"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			o := filledOperator(t, c.kind, c.text, rows)
			held := o.StateBytes()
			if held < rows*8 {
				t.Fatalf("the state has %d bytes, too few to tell", held)
			}
			cost := allocated(func() { o.Fork() })
			if cost > uint64(held)/20+64<<10 {
				t.Errorf("a fork of %d bytes of state allocates %d", held, cost)
			}
		})
	}
}

// filledOperator returns an instance that has seen rows of as many keys.
func filledOperator(t *testing.T, kind, text string, rows int) op.Operator {
	t.Helper()
	s, err := optest.Schema("k string, n int64")
	if err != nil {
		t.Fatal(err)
	}
	in := []op.Input{{Name: "a", Schema: s}}
	if kind == "join" {
		in = append(in, op.Input{Name: "b", Schema: s})
	}
	p, err := optest.Build(kind, text, in)
	if err != nil {
		t.Fatal(err)
	}
	o := p.New()
	bb := tuple.NewBatchBuilder(s)
	for i := range rows {
		bb.AppendBin(0, fmt.Appendf(nil, "key %d", i))
		bb.AppendInt(1, int64(i))
		bb.EndRow(tuple.Time(i * 1000))
	}
	if err := o.Process(0, bb.Take(), discard{}); err != nil {
		t.Fatal(err)
	}
	for port := range in {
		if _, err := o.Boundary(port, tuple.Time(rows*1000), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
