package query

import (
	"fmt"
	"strings"
	"testing"

	"fednode/query/tuple"
)

// chain declares n operators one behind the other.
func chain(n int) string {
	var b strings.Builder
	in := "a"
	for i := range n {
		fmt.Fprintf(&b, "[operators.p%d]\nkind = \"pass\"\ninput = %q\n", i, in)
		in = fmt.Sprintf("p%d", i)
	}
	return b.String()
}

// sink counts and drops.
type sink struct{ rows int }

func (s *sink) Batch(_ int, b *tuple.Batch) error { s.rows += b.Rows(); return nil }
func (*sink) Boundary(int, tuple.Time) error      { return nil }

// BenchmarkBatch: what the fragment adds to a batch for each operator that it passes.
func BenchmarkBatch(b *testing.B) {
	const operators = 10
	out := &sink{}
	i := NewInstance(fragmentOf(b, chain(operators), fmt.Sprintf("p%d", operators-1)), out)
	batch := rowsOf(1000, 0)
	b.ReportAllocs()
	for b.Loop() {
		if err := i.Process(0, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/operators, "ns/operator")
}

// BenchmarkIdleBoundary: a boundary through 500 operators that have nothing to do. At one every 100 ms the whole must cost
// less than 5 % of a core: 5 ms.
func BenchmarkIdleBoundary(b *testing.B) {
	const operators = 500
	i := NewInstance(fragmentOf(b, chain(operators), fmt.Sprintf("p%d", operators-1)), &sink{})
	t := tuple.Time(0)
	b.ReportAllocs()
	for b.Loop() {
		t += tuple.Time(100 * tuple.Millisecond)
		if err := i.Boundary(0, t); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e8*100, "%core")
}

// BenchmarkParse: validation of a diagram of 500 operators.
func BenchmarkParse(b *testing.B) {
	src := []byte("[query]\nname = \"q\"\n[streams.a]\nconnector = \"file\"\n[streams.a.columns]\nn = \"int64\"\n" + chain(500) +
		"[outputs.o]\nconnector = \"file\"\ninput = \"p499\"\n")
	for b.Loop() {
		if d, p := Parse("q", src, Options{Kinds: fakeKinds()}); d == nil {
			b.Fatal(p.Err())
		}
	}
}
