package replica

import (
	"errors"
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
				if s.r.Renewals().Done != 1 {
					t.Fatalf("%+v renewals; changes %v", s.r.Renewals(), s.changes)
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
	if s.r.Renewals().Done != 1 {
		t.Fatalf("%+v renewals; changes %v", s.r.Renewals(), s.changes)
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
	if s.r.Renewals() != (Renewals{}) {
		t.Errorf("%+v renewals in a failure that heals", s.r.Renewals())
	}
	s = newStage(t, longQuery, func(c *Config) { c.SliceRows = 40 })
	s.run(5000 * ms)
	s.half(0, 5000*ms, 6500*ms)
	s.run(5000 * ms)
	if n := len(s.changes); s.r.Renewals() != (Renewals{Long: 1}) || s.changes[n-1] != "STABILIZATION->UPSTREAM_FAILURE" {
		t.Errorf("%+v renewals of more than a slice; changes %v", s.r.Renewals(), s.changes)
	}
}

// TestRenewalSaysWhy shows that what comes of a renewal is counted and told: a fork that cannot be begun anew goes on, and none of
// its rows is undone for that.
func TestRenewalSaysWhy(t *testing.T) {
	s := newStage(t, longQuery, nil)
	s.run(5000 * ms)
	s.half(0, 5000*ms, 6500*ms)
	s.run(5000 * ms)
	if len(s.renewed) != 1 || s.renewed[0].Cause != nil || s.renewed[0].Rows == 0 {
		t.Fatalf("told %+v", s.renewed)
	}
	u := s.r.unions[0]
	p, fork := u.path, u.path.fork
	again := func(want Renewals, text string) {
		t.Helper()
		u.base = tuple.MinTime // as if the stable side had moved since
		s.r.renew(p)
		if got := s.r.Renewals(); got != want || p.fork != fork {
			t.Fatalf("%+v, want %+v; another fork: %v", got, want, p.fork != fork)
		}
		if x := s.renewed[len(s.renewed)-1]; x.Cause == nil || !strings.Contains(x.Cause.Error(), text) || (x.Rows == 0) != errors.Is(x.Cause, errForgotten) || !slices.Equal(x.Outputs, p.outputs) {
			t.Fatalf("told %+v, want %q", x, text)
		}
	}
	s.r.cfg.StateBytes = 1
	again(Renewals{Done: 1, Failed: 1}, "state bytes")
	s.r.cfg.StateBytes = 0
	s.r.cfg.SliceRows = 1
	again(Renewals{Done: 1, Failed: 1, Long: 1}, "more rows")
	s.r.cfg.SliceRows = 1 << 16
	b := tuple.NewBatchBuilder(s.r.cfg.Plan.Unions[0].Schema)
	for c := range s.r.cfg.Plan.Unions[0].Schema.Len() {
		b.AppendNull(c)
	}
	b.EndRow(u.su.Forked() - 1)
	u.su.InsertTentative(0, &tuple.Frame{Kind: tuple.Tentative, FirstID: 1, LastID: 1, Batch: b.Take()})
	u.su.UndoTentative(0)
	again(Renewals{Done: 1, Failed: 1, Long: 1, Forgotten: 1}, "not all rows are kept")
	if s.outputs[0].undone > 0 {
		t.Error("rows are undone")
	}
}
