package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// longQuery is unionQuery with windows that last longer than a failure.
var longQuery = strings.Replace(unionQuery, `"1s"`, `"20s"`, 1)

// half cuts an input off, and lets it go on for as long as it takes to correct up to an stime; then it is cut off again.
func (s *stage) half(n int, away int64, upTo tuple.Time) {
	s.cut(n, true)
	s.run(away)
	src := s.sources[n]
	src.most = 1 + slices.IndexFunc(src.log, func(f *tuple.Frame) bool { return f.Kind == tuple.Boundary && f.Time >= upTo })
	s.cut(n, false)
	s.run(1000 * ms)
	s.cut(n, true)
}

// TestRenewedFork shows that a fork that has been tentative for long is renewed when corrections have stopped half way: what it
// gives from then on is what the fork of a replica gives that has lacked nothing before.
func TestRenewedFork(t *testing.T) {
	for _, policy := range []dcaa.Policy{dcaa.Process, dcaa.Delay} {
		for failed := range 2 {
			t.Run(fmt.Sprint(policy, failed), func(t *testing.T) {
				settings := func(c *Config) { c.Settings.Failure = policy }
				s := newStage(t, longQuery, settings)
				s.run(5000 * ms)
				s.half(failed, 5000*ms, 6500*ms)
				s.run(3000 * ms)
				if s.r.Renewals() != 1 {
					t.Fatalf("%d renewals; changes %v", s.r.Renewals(), s.changes)
				}
				if m := s.r.Missing(0); len(m) != 1 || m[0].Since != 6500*ms {
					t.Errorf("it lacks %v, want one input since 6.5 s", m)
				}
				other := newStage(t, longQuery, settings)
				other.run(6510 * ms)
				other.cut(failed, true)
				other.run(int64(s.now - other.now))
				if a, b := s.r.Released(), other.r.Released(); a != b {
					t.Fatalf("the stable sides are at %v and %v", a, b)
				}
				for _, x := range []*stage{s, other} {
					x.run(12_000 * ms)
				}
				got, want := s.outputs[0].tentative, other.outputs[0].tentative
				if len(want) == 0 || !slices.Equal(got, want) {
					t.Errorf("tentative rows %q, want %q", got, want)
				}
				for _, x := range []*stage{s, other} {
					x.sources[failed].most = 0
					x.cut(failed, false)
					x.run(15_000 * ms)
					compare(t, x, reference(t, longQuery, int64(x.now)-1_000_000*ms))
				}
				if s.longest > 3000*ms {
					t.Errorf("results %d ms late", s.longest/ms)
				}
			})
		}
	}
}

// TestRenewedForkSaysNothingTwice shows that what a fork has given is not given again by the one that takes its place, and that
// what comes behind it is whole.
func TestRenewedForkSaysNothingTwice(t *testing.T) {
	s := newStage(t, plainQuery, nil)
	s.run(5000 * ms)
	s.half(0, 5000*ms, 6500*ms)
	s.run(5000 * ms)
	if s.r.Renewals() != 1 {
		t.Fatalf("%d renewals; changes %v", s.r.Renewals(), s.changes)
	}
	o := s.outputs[0]
	seen := make(map[string]bool)
	for _, r := range o.tentative {
		if seen[r] {
			t.Errorf("%q is given twice", r)
		}
		seen[r] = true
	}
	for _, f := range s.sources[1].log {
		if f.Kind != tuple.Insertion || f.Batch.Time[0] < 6500*ms || f.Batch.Time[0] >= o.boundary {
			continue
		}
		if r := rows(f.Batch)[0]; !seen[r] {
			t.Errorf("%q of the input that is there is not given", r)
		}
	}
}

// TestNotRenewed shows when a fork stays: while the stable side stands where it was, and when to do again what it has done would
// keep new rows waiting.
func TestNotRenewed(t *testing.T) {
	s := newStage(t, longQuery, nil)
	s.run(5000 * ms)
	s.cut(0, true)
	s.run(10_000 * ms)
	s.cut(0, false)
	s.run(5000 * ms)
	if s.r.Renewals() != 0 {
		t.Errorf("%d renewals in a failure that heals", s.r.Renewals())
	}
	s = newStage(t, longQuery, func(c *Config) { c.SliceRows = 40 })
	s.run(5000 * ms)
	s.half(0, 5000*ms, 6500*ms)
	s.run(5000 * ms)
	if n := len(s.changes); s.r.Renewals() != 0 || s.changes[n-1] != "STABILIZATION->UPSTREAM_FAILURE" {
		t.Errorf("%d renewals of more than a slice; changes %v", s.r.Renewals(), s.changes)
	}
}
