package replica

import (
	"testing"

	"fednode/query/tuple"
)

// TestHeldByBytes shows that few rows that are large hold an input that is ahead, as many small ones do, long before the fragment
// would have to end: nothing is lost by that.
func TestHeldByBytes(t *testing.T) {
	const limit = 40_000
	s := newStage(t, unionQuery, func(c *Config) { c.InputBytes = limit })
	s.run(5000 * ms)
	s.cut(0, true)
	for n := 0; !s.r.Held(1); n++ {
		if n == 600 {
			t.Fatalf("the input is not held with %d bytes", s.r.kept)
		}
		s.run(100 * ms)
	}
	if n, rows := s.r.kept, s.r.unions[0].su.Waiting(1); n <= s.r.heldBytes() || n > limit || rows >= 1000 {
		t.Fatalf("held with %d bytes, %d rows", n, rows)
	}
	if s.r.crowdedBytes() <= s.r.heldBytes()*3/4 || s.r.crowdedBytes() >= s.r.heldBytes() {
		t.Fatalf("crowded at %d bytes, held at %d", s.r.crowdedBytes(), s.r.heldBytes())
	}
	if s.r.Held(0) {
		t.Fatal("the input that the other one waits for is held")
	}
	if !s.r.crowded(s.r.unions[0]) {
		t.Fatal("what has come is not redone for want of room")
	}
	s.cut(0, false)
	s.run(15_000 * ms)
	if s.r.Held(1) {
		t.Fatal("the input is held though all is there")
	}
	compare(t, s, reference(t, unionQuery, int64(s.now)-1_000_000*ms))
}

// TestTentativeBytes shows that tentative rows take their share of what the inputs may keep, whether a fork has had them or not.
func TestTentativeBytes(t *testing.T) {
	const limit = 400_000
	s := newStage(t, unionQuery, func(c *Config) { c.InputBytes = limit })
	s.run(5000 * ms)
	s.cut(0, true)
	s.run(5000 * ms) // there is a fork
	u := s.r.unions[0]
	share, at := s.r.suffixBytes(), u.su.Forked()
	most := int64(0)
	for n := range 200 {
		b := tuple.NewBatchBuilder(s.r.cfg.Plan.Unions[0].Schema)
		for range 20 {
			for c := range s.r.cfg.Plan.Unions[0].Schema.Len() {
				b.AppendNull(c)
			}
			b.EndRow(at)
		}
		s.r.inputs[0].TentativeRows(&tuple.Frame{Kind: tuple.Tentative, FirstID: uint64(n)*20 + 1, LastID: uint64(n)*20 + 20, Batch: b.Take()})
		if n%2 == 1 { // some go to the fork
			at = at.Add(100 * ms)
			s.r.releaseTentative(u, at)
		}
		most = max(most, u.su.Bytes(0))
	}
	if most > share || most < share/2 {
		t.Errorf("%d bytes of tentative rows, the share is %d", most, share)
	}
}
