package replica

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// bestEffort makes a replica of a query of best effort one of two.
func bestEffort(c *Config) {
	c.Settings.Consistency = dcaa.BestEffort
	c.Peers = []string{"north/n2"}
}

// begun is the status of another replica that says that it has begun anew at an stime, in the generation that begins there.
func begun(s *stage, at tuple.Time) dcaa.StreamStatus {
	origin := s.r.origin(0, at)
	return dcaa.StreamStatus{State: dcaa.Stable, Generation: origin.Generation(), Begins: at}
}

// means is that of one that says that it is about to.
func means(at tuple.Time) dcaa.StreamStatus {
	return dcaa.StreamStatus{State: dcaa.UpstreamFailure, Generation: 1, Begins: at}
}

// exact checks that an output is stable in a generation that is that of where it begins, and has given what a run without failures
// gives at the end, behind its GAP.
func (s *stage) exact(text string, output int) {
	s.t.Helper()
	st := s.r.Status(output)
	if st.State != dcaa.Stable || st.Generation <= 1 {
		s.t.Fatalf("%+v; want stable results in a later generation; changes %v", st, s.changes)
	}
	calm, o := reference(s.t, text, int64(s.now)-1_000_000*ms).outputs[output].stable, s.outputs[output]
	want := slices.DeleteFunc(slices.Clone(calm), func(row string) bool { return stimeOf(s.t, row) < st.Begins })
	if behind := o.stable[o.before:]; len(want) == 0 || len(behind) < len(want) || len(behind) > len(calm) || !slices.Equal(behind, calm[len(calm)-len(behind):]) {
		s.t.Fatalf("%d results behind the gap; want the last ones of a run without failures, %d or more from %v on", len(behind), len(want), st.Begins)
	}
	origin := s.r.origin(output, st.Begins)
	if g := origin.Generation(); g != st.Generation {
		s.t.Fatalf("generation %d begins at %v, whose number is %d", st.Generation, st.Begins, g)
	}
}

// stimeOf is the stime of a row that is rendered.
func stimeOf(t testing.TB, row string) tuple.Time {
	t.Helper()
	text, _, _ := strings.Cut(row, " ")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return tuple.Time(n)
}

// fail cuts an input off until results are tentative.
func (s *stage) fail(input int) {
	s.t.Helper()
	s.run(5000 * ms)
	s.cut(input, true)
	s.run(8000 * ms)
	if got := s.r.unions[0].path.state; got != dcaa.UpstreamFailure {
		s.t.Fatalf("state %v before healing", got)
	}
}

// TestBeginsAnew shows that results of best effort are stable again soon after a failure, in a generation that is that of where
// they begin, and that a replica which lies about where it begins neither keeps them tentative nor makes them wrong.
func TestBeginsAnew(t *testing.T) {
	for _, c := range []struct {
		name string
		says func(s *stage) dcaa.StreamStatus // what the other replica says
	}{
		{"beside one that says nothing", func(*stage) dcaa.StreamStatus { return means(0) }},
		{"beside one that says the beginning of time", func(*stage) dcaa.StreamStatus { return means(tuple.MinTime) }},
		{"beside one that says the end of time", func(*stage) dcaa.StreamStatus { return means(tuple.MaxTime) }},
		{"beside one that says an hour from here", func(s *stage) dcaa.StreamStatus { return means(s.r.Released().Add(3_600_000 * ms)) }},
		{"beside one that always says a second from here", func(s *stage) dcaa.StreamStatus { return means(s.r.Released().Add(1000 * ms)) }},
		{"beside one that says the middle of a bucket", func(s *stage) dcaa.StreamStatus { return means(s.r.Released().Add(1033 * ms)) }},
		{"beside one that has begun in the middle of a bucket", func(s *stage) dcaa.StreamStatus { return begun(s, s.r.Released().Add(1233*ms)) }},
		{"beside one that has begun an hour from here", func(s *stage) dcaa.StreamStatus { return begun(s, s.r.Released().Add(3_600_000*ms)) }},
		{"beside one that has begun at the end of time", func(s *stage) dcaa.StreamStatus { return begun(s, tuple.MaxTime) }},
		{"beside one that always has begun just now", func(s *stage) dcaa.StreamStatus { return begun(s, s.r.Released()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, unionQuery, bestEffort)
			s.r.PeerReachable(s.now, 0, true)
			s.fail(1)
			if v, _ := s.r.Anew(0); v.Phase != Lacking || v.Complete >= v.Needed || v.Span <= 0 {
				t.Fatalf("%+v before healing", v)
			}
			s.cut(1, false)
			for range 120 {
				for o := range s.r.cfg.Plan.Outputs {
					s.r.PeerHeard(s.now, 0, o, c.says(s))
				}
				s.run(100 * ms)
			}
			s.exact(unionQuery, 0)
			if v, _ := s.r.Anew(0); v.Phase != Whole || v.Times == 0 || v.GapFrom >= v.GapTo || v.Begins != s.r.Status(0).Begins {
				t.Fatalf("%+v behind the gap", v)
			}
		})
	}
}

// TestBeginsAnewCrowded shows that what is to be fed again behind a failure is not passed over because there is much of it: while
// another input is held up where results are about to begin anew.
func TestBeginsAnewCrowded(t *testing.T) {
	s := newStage(t, joinQuery, func(c *Config) {
		bestEffort(c)
		c.WaitingRows = 8
	})
	s.fail(1)
	s.cut(1, false)
	p := s.r.unions[0].path
	for p.anew.to == tuple.MinTime || s.r.lowest(p) < p.anew.to.Add(-200*ms) {
		s.run(10 * ms)
	}
	s.cut(1, true)
	s.run(2000 * ms)
	s.cut(1, false)
	s.run(4000 * ms)
	s.exact(joinQuery, 1)
	if st := s.r.Status(0); st.State != dcaa.Stable || st.Generation != 1 || len(s.outputs[0].gaps) > 0 || s.outputs[0].everTent > 0 {
		t.Fatalf("%+v, gaps %q, %d tentative rows, at the output that lacks nothing", st, s.outputs[0].gaps, s.outputs[0].everTent)
	}
}

// TestBeginsAnewLate shows that results are stable again although what is late stays so.
func TestBeginsAnewLate(t *testing.T) {
	s := newStage(t, unionQuery, bestEffort)
	s.fail(1)
	for _, src := range s.sources {
		src.late = 1700 * ms
	}
	s.cut(1, false)
	s.run(15_000 * ms)
	if st := s.r.Status(0); st.State != dcaa.Stable || st.Generation <= 1 {
		t.Fatalf("%+v 15 s after healing; want stable results; changes %v", st, s.changes)
	}
}

// TestBeginsAnewBehindLies shows that a producer which says that rows are lost up to some far time keeps results tentative for no
// longer than until what it gives shows that it has lied, also over a restart.
func TestBeginsAnewBehindLies(t *testing.T) {
	for _, restart := range []bool{false, true} {
		s := newStage(t, unionQuery, bestEffort)
		s.run(5000 * ms)
		src := s.sources[1]
		src.log = append(src.log, &tuple.Frame{Kind: tuple.Gap, Generation: 2, FirstID: src.last, Time: 5_000_000, To: tuple.MaxTime, Reason: "so"})
		src.generation = 2
		s.run(100 * ms)
		if !s.r.unions[0].path.anew.lost {
			t.Fatal("nothing is lost behind the gap")
		}
		if restart {
			s.restart(s.point())
		}
		s.run(70_000 * ms)
		s.exact(unionQuery, 0)
	}
}

// TestBeginsAnewServed shows that a path which has lost rows while it redid what it missed begins anew, although another replica
// serves meanwhile.
func TestBeginsAnewServed(t *testing.T) {
	s := newStage(t, unionQuery, bestEffort)
	s.r.PeerReachable(s.now, 0, true)
	s.fail(1)
	p := s.r.unions[0].path
	p.state = dcaa.Stabilization // as with permission to redo
	s.r.lose(s.r.unions[0], 1, s.r.Released(), "lost")
	s.cut(1, false)
	at := p.unions[0].su.Forked().Add(3000*ms).FloorTo(1000*ms, 0)
	for range 80 {
		for o := range s.r.cfg.Plan.Outputs {
			s.r.PeerHeard(s.now, 0, o, begun(s, at))
		}
		s.run(100 * ms)
	}
	s.exact(unionQuery, 0)
}

// point makes a recovery point.
func (s *stage) point() recoveryPoint {
	var e tuple.Encoder
	return recoveryPoint{state: s.r.Snapshot(&e), operators: e.B}
}

// restart lets a new life begin at a recovery point. The outputs forget what they have had.
func (s *stage) restart(p recoveryPoint) {
	s.t.Helper()
	cfg := s.r.cfg
	cfg.Incarnation++
	for n := range s.outputs {
		s.outputs[n] = &received{boundary: tuple.MinTime, numbered: p.state.Outputs[n].Next - 1}
	}
	for _, src := range s.sources {
		src.conn = 0
	}
	r, _, err := Restore(cfg, s.now, s, p.state, p.operators, query.RestoreOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.r = r
	for n := range s.sources {
		r.Reachable(s.now, n, 0, true)
	}
}

// TestBeginsAnewAfterCrash shows that a replica asks for a recovery point before its results begin anew, and that one which is
// restarted from there begins at the same place, with the same results.
func TestBeginsAnewAfterCrash(t *testing.T) {
	s := newStage(t, unionQuery, bestEffort)
	s.fail(1)
	s.cut(1, false)
	for asked := s.r.Beginnings(); s.r.Beginnings() == asked; {
		s.run(10 * ms)
	}
	if st := s.r.Status(0); st.State == dcaa.Stable || st.Generation != 1 {
		t.Fatalf("%+v when a recovery point is asked for; want one before results begin anew", st)
	}
	p := s.point()
	s.run(4000 * ms)
	st, o := s.r.Status(0), *s.outputs[0]
	s.restart(p)
	s.run(2000 * ms)
	s.exact(unionQuery, 0)
	again := s.outputs[0]
	if got := s.r.Status(0); got.Generation != st.Generation || got.Begins != st.Begins {
		t.Fatalf("%+v after a restart, %+v before", got, st)
	}
	if had := o.stable[o.before:]; len(had) == 0 || !slices.Equal(again.stable[again.before:][:len(had)], had) {
		t.Fatalf("%d results, others than the %d before the restart", len(again.stable), len(had))
	}
}

// TestGoesOnElsewhere shows that a fragment whose producer is lost goes on with another one that has begun anew elsewhere, without
// a tentative result and without a generation of its own, if that one gives all that comes next; and that a recovery point of
// between leads behind no row that was not worked on. A source that begins anew has lost something.
func TestGoesOnElsewhere(t *testing.T) {
	for _, source := range []bool{false, true} {
		s := newStage(t, unionQuery, func(c *Config) {
			bestEffort(c)
			c.Inputs[1].Source = source
		})
		s.run(5000 * ms)
		s.cut(0, true) // so that rows wait
		s.run(500 * ms)
		src := s.sources[1]
		before, gap := s.r.positions()[0][1], int64(s.now)-1_000_000*ms
		src.generation, src.last = 2, src.last+1000
		src.log = append(src.log, &tuple.Frame{Kind: tuple.Gap, Generation: 2, FirstID: src.last, Time: tuple.Time(gap - 500*ms), To: tuple.Time(gap - 200*ms), Reason: "so"})
		s.run(200 * ms)
		if lost := s.r.unions[0].path.anew.lost; lost != source {
			t.Fatalf("source %v: lost %v", source, lost)
		}
		if source {
			continue
		}
		if at := s.r.positions()[0][1]; at.Generation != before.Generation || at.ID != before.ID {
			t.Fatalf("resumes at %v while rows of before wait, want %v", at, before)
		}
		s.cut(0, false)
		s.run(3000 * ms)
		if at := s.r.positions()[0][1]; at.Generation != 2 {
			t.Fatalf("resumes at %v", at)
		}
		if st := s.r.Status(0); st.State != dcaa.Stable || st.Generation != 1 || s.outputs[0].everTent > 0 {
			t.Fatalf("%+v, %d tentative rows; changes %v", st, s.outputs[0].everTent, s.changes)
		}
	}
}

// TestGapWithinGeneration shows that word of lost rows that passes over none of a producer's own, within the generation that an input
// is in, takes no row that waits behind its boundary: in that generation none comes again.
func TestGapWithinGeneration(t *testing.T) {
	s := newStage(t, unionQuery, func(c *Config) {
		bestEffort(c)
		c.Inputs[1].Source = false
	})
	s.run(5000 * ms)
	s.cut(0, true) // so that rows wait
	s.run(500 * ms)
	su, in := s.r.unions[0].su, s.r.inputs[1]
	b := tuple.NewBatchBuilder(s.r.cfg.Plan.Unions[0].Schema)
	b.EndRow(su.InputBoundary(1).Add(10 * ms))
	generation, id := su.Last(1)
	if err := in.Rows(&tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: id + 1, LastID: id + 1, Batch: b.Take()}); err != nil {
		t.Fatal(err)
	}
	waiting := su.Waiting(1)
	in.Gap(&tuple.Frame{Kind: tuple.Gap, Generation: generation, FirstID: id + 1, Time: su.InputBoundary(1) - 1, To: su.InputBoundary(1), Reason: "so"})
	if n := su.Waiting(1); n != waiting {
		t.Errorf("%d rows wait behind the gap, %d before", n, waiting)
	}
	if g, last := su.Last(1); g != generation || last != id+1 {
		t.Errorf("at %d in generation %d, want %d in %d", last, g, id+1, generation)
	}
}

// TestGoesOnWhereItIsKnown shows that a fragment whose producers hold no more what comes next goes on with one in another generation
// as if nothing were lost only if that one says up to which stime rows of it are gone: one that was restarted may not know.
func TestGoesOnWhereItIsKnown(t *testing.T) {
	for _, known := range []bool{false, true} {
		s := newStage(t, unionQuery, func(c *Config) {
			bestEffort(c)
			c.Inputs[1].Source = false
		})
		s.run(5000 * ms)
		s.cut(1, true)
		s.run(200 * ms)
		src := s.sources[1]
		src.down = false
		s.r.Reachable(s.now, 1, 0, true)
		first := tuple.Position{Generation: 2, ID: src.last + 50, Time: tuple.MinTime}
		if known {
			first.Time = s.r.unions[0].su.InputBoundary(1)
		}
		s.r.Truncated(s.now, 1, src.conn, first)
		if _, lost := s.r.inputs[1].intake.Lost(); !lost {
			t.Fatal("nothing is lacking")
		}
		if got := s.r.inputs[1].seamless(); got != known {
			t.Fatalf("known %v, nothing lost %v", known, got)
		}
		s.r.inputs[1].intake.Skip(s.now, "so")
		if lost := s.r.unions[0].path.anew.lost; lost == known {
			t.Fatalf("known %v, lost %v", known, lost)
		}
	}
}
