package replica

import (
	"fmt"
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// BenchmarkReplay is what a row costs that a new fork is given once more: of a union of two inputs, one of them missing, and an
// aggregate.
func BenchmarkReplay(b *testing.B) {
	s := newStage(b, longQuery, nil)
	s.run(5000 * ms)
	s.cut(0, true)
	s.run(5000 * ms)
	const frames, each = 16, 4096
	src, at := s.sources[1], tuple.Time(int64(s.now)-1_000_000*ms)
	in := s.r.inputs[1]
	for range frames {
		rows := tuple.NewBatchBuilder(s.plan.Inputs[1].Schema)
		for k := range int64(each) {
			rows.AppendInt(0, k)
			rows.AppendBin(1, fmt.Appendf(nil, "k%d", k%100))
			rows.AppendInt(2, k)
			rows.EndRow(at)
		}
		f := &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: src.last + 1, LastID: src.last + each, Batch: rows.Take()}
		src.last += each
		if err := in.Rows(f); err != nil {
			b.Fatal(err)
		}
	}
	in.Boundary(at.Add(100*ms), dcaa.Age{})
	p := s.r.paths[0]
	s.r.releaseTentative(s.r.unions[0], at.Add(100*ms))
	rows, ok := s.r.unions[0].su.Replay()
	if !ok || rows < frames*each {
		b.Fatalf("%d rows, to be had: %v", rows, ok)
	}
	p.replaying = true
	for b.Loop() {
		fork := s.r.inst.ForkAffected([]bool{true}, tentativeOut{s.r, p})
		if err := s.r.replay(p, fork); err != nil {
			b.Fatal(err)
		}
		fork.Drop()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}
