package replica

import (
	"slices"
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// bestEffort makes a replica of a query of best effort one of two.
func bestEffort(c *Config) {
	c.Settings.Consistency = dcaa.BestEffort
	c.Peers = []string{"north/n2"}
}

// TestBeginsAnew shows that results of best effort are stable again soon after a failure, in a generation that is that of where
// they begin, and that a replica which says that it begins far away is not followed there.
func TestBeginsAnew(t *testing.T) {
	for _, c := range []struct {
		name string
		says func(s *stage) tuple.Time // where the other replica begins
	}{
		{"beside one that says nothing", func(*stage) tuple.Time { return 0 }},
		{"beside one that says the end of time", func(*stage) tuple.Time { return tuple.MaxTime }},
		{"beside one that says an hour from here", func(s *stage) tuple.Time { return s.r.Released().Add(3_600_000 * ms) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, unionQuery, bestEffort)
			s.r.PeerReachable(s.now, 0, true)
			s.run(5000 * ms)
			s.cut(1, true)
			s.run(8000 * ms)
			if got := s.r.unions[0].path.state; got != dcaa.UpstreamFailure {
				t.Fatalf("state %v before healing", got)
			}
			s.cut(1, false)
			for range 40 {
				for o := range s.r.cfg.Plan.Outputs {
					s.r.PeerHeard(s.now, 0, o, dcaa.StreamStatus{State: dcaa.UpstreamFailure, Generation: 1, Begins: c.says(s)})
				}
				s.run(100 * ms)
			}
			st := s.r.Status(0)
			if st.State != dcaa.Stable || st.Generation <= 1 {
				t.Fatalf("%+v four seconds after healing; want stable results in a later generation", st)
			}
			calm, o := reference(t, unionQuery, int64(s.now)-1_000_000*ms), s.outputs[0]
			if behind := o.stable[o.before:]; len(behind) == 0 || !slices.Equal(behind, calm.outputs[0].stable[len(calm.outputs[0].stable)-len(behind):]) {
				t.Fatalf("%d results behind the gap; want the last ones of a run without failures", len(behind))
			}
			origin := s.r.origin(0, st.Begins)
			if g := origin.Generation(); g != st.Generation {
				t.Fatalf("generation %d begins at %v, whose number is %d", st.Generation, st.Begins, g)
			}
		})
	}
}
