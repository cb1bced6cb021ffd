package replica

import (
	"slices"
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// TestBeginsLater shows that a replica whose inputs begin in later generations numbers its results in one of their own, which
// does not depend on which input came first, and says so before its first row.
func TestBeginsLater(t *testing.T) {
	begin := func(a, b uint64, late int) (generation uint64, gaps int) {
		s := newStage(t, unionQuery, nil)
		s.sources[0].generation, s.sources[1].generation = a, b
		if late >= 0 {
			s.cut(late, true)
			s.run(500 * ms)
			s.cut(late, false)
		}
		s.run(5000 * ms)
		if len(s.outputs[0].stable) == 0 {
			t.Fatal("no results")
		}
		return s.r.Status(0).Generation, len(s.outputs[0].gaps)
	}
	if g, n := begin(1, 1, -1); g != 1 || n != 0 {
		t.Errorf("inputs of generation 1: results of generation %d behind %d gaps", g, n)
	}
	want, n := begin(2, 5, 0)
	if want <= 1 || n != 2 {
		t.Errorf("results of generation %d behind %d gaps, each input begins late", want, n)
	}
	if got, _ := begin(2, 5, 1); got != want {
		t.Errorf("generation %d and %d: it hangs on which input came first", got, want)
	}
	if got, _ := begin(2, 6, 1); got == want {
		t.Errorf("generation %d for other rows", got)
	}
}

// TestStatesInCircles shows that of two replicas that each reach further at another input one takes the state of the other, and
// not both.
func TestStatesInCircles(t *testing.T) {
	lacking := func(name, peer string, cut int) *stage {
		s := newStage(t, joinQuery, func(c *Config) { c.Name, c.Peers = name, []string{peer} })
		s.r.PeerReachable(s.now, 0, true)
		s.run(1000 * ms)
		s.cut(cut, true)
		s.run(500 * ms)
		src := s.sources[cut]
		src.down = false
		s.r.Reachable(s.now, cut, 0, true)
		s.r.Truncated(s.now, cut, src.conn, tuple.Position{Generation: 1, ID: src.last, Time: tuple.Time(1500 * ms)})
		if !stranded(s.r) {
			t.Fatalf("%s lacks nothing", name)
		}
		return s
	}
	state := func(s *stage) State {
		var e tuple.Encoder
		return s.r.Snapshot(&e)
	}
	a, b := lacking("north/n1", "north/n2", 0), lacking("north/n2", "north/n1", 1)
	takes := func(s *stage, now dcaa.Instant, other State) bool { return s.r.Offered(now, 0, other, false) != nil }
	first, second := takes(a, a.now, state(b)), takes(b, b.now, state(a))
	if first == second {
		t.Errorf("the first takes the state of the second: %v; the second that of the first: %v", first, second)
	}
	complete := func(s State, to tuple.Time) State {
		for _, at := range s.Inputs {
			for k := range at {
				at[k].Time = to
			}
		}
		s.Boundary = to
		return s
	}
	if !takes(a, a.now, complete(state(b), a.r.Released().Add(1000*ms))) {
		t.Error("a state that is complete further is not taken")
	}
	if takes(b, b.now, complete(state(a), tuple.MinTime)) {
		t.Error("a state that is complete less far is taken")
	}
}

// TestGenerationsInCircles shows that of two replicas that each have followed another history at another input, of which nothing comes
// any more, one takes the state of the other, and not both, although each is in the generation that the other one's input goes on in.
func TestGenerationsInCircles(t *testing.T) {
	lacking := func(name, peer string, gone int) *stage {
		s := newStage(t, joinQuery, func(c *Config) { c.Name, c.Peers = name, []string{peer} })
		for n, src := range s.sources {
			if src.generation = 2; n == gone {
				src.generation = 3
			}
		}
		s.r.PeerReachable(s.now, 0, true)
		s.run(1000 * ms)
		s.cut(gone, true)
		s.run(500 * ms)
		src := s.sources[gone]
		src.down = false
		s.r.Reachable(s.now, gone, 0, true)
		s.r.Truncated(s.now, gone, src.conn, tuple.Position{Generation: 2, ID: 1})
		if !stranded(s.r) {
			t.Fatalf("%s lacks nothing", name)
		}
		return s
	}
	a, b := lacking("north/n1", "north/n2", 0), lacking("north/n2", "north/n1", 1)
	takes := func(s, other *stage) bool { return s.r.Offered(s.now, 0, other.offer().state, false) != nil }
	if first, second := takes(a, b), takes(b, a); first == second {
		t.Errorf("the first takes the state of the second: %v; the second that of the first: %v", first, second)
	}
}

// TestStateOfLowerGeneration shows that a replica which can go on nowhere takes the state of one that goes on in what its producer
// gives now, although the number of that generation is lower than that of its own; and no state that its producer cannot go on
// from.
func TestStateOfLowerGeneration(t *testing.T) {
	s := newStage(t, joinQuery, func(c *Config) { c.Name, c.Peers = "north/n2", []string{"north/n1"} })
	src := s.sources[0]
	src.generation = 5
	s.r.PeerReachable(s.now, 0, true)
	s.run(1000 * ms)
	s.cut(0, true)
	s.run(500 * ms)
	src.down = false
	s.r.Reachable(s.now, 0, 0, true)
	s.r.Truncated(s.now, 0, src.conn, tuple.Position{Generation: 3, ID: 40, Time: tuple.Time(1500 * ms)})
	if !stranded(s.r) {
		t.Fatal("nothing is lacking")
	}
	offered := func(at tuple.Position) bool {
		state := State{Inputs: s.r.positions(), Boundary: s.r.Released()}
		for n, u := range s.r.cfg.Plan.Unions {
			for k, in := range u.Inputs {
				if in == 0 {
					state.Inputs[n][k] = at
				}
			}
		}
		return s.r.Offered(s.now, 0, state, false) != nil
	}
	if offered(tuple.Position{Generation: 3, ID: 39, Time: tuple.Time(1500 * ms)}) || offered(tuple.Position{Generation: 4, ID: 50, Time: tuple.Time(1500 * ms)}) {
		t.Error("a state is taken that its producer cannot go on from")
	}
	if !offered(tuple.Position{Generation: 3, ID: 50, Time: tuple.Time(1500 * ms)}) {
		t.Error("the state of a replica that goes on is not taken")
	}
}

// stranded reports whether an input can go on nowhere.
func stranded(r *Replica) bool {
	return slices.ContainsFunc(r.inputs, func(in *input) bool {
		_, lost := in.intake.Lost()
		return lost
	})
}
