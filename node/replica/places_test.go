package replica

import (
	"slices"
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// TestGapsByPlace shows that gaps of two inputs reach the outputs in the order of their places, whichever input tells first.
func TestGapsByPlace(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		s := newStage(t, unionQuery, nil)
		reach := []tuple.Time{1000 * ms, 900 * ms}
		for _, n := range order {
			s.r.inputs[n].Boundary(reach[n], dcaa.Age{})
			s.r.inputs[n].Gap(&tuple.Frame{Kind: tuple.Gap, Generation: 1, Time: reach[n], To: reach[n] + 1, Reason: "lost"})
		}
		for n := range reach {
			s.r.inputs[n].Boundary(2000*ms, dcaa.Age{})
		}
		for busy := true; busy; {
			var err error
			if busy, err = s.r.Advance(s.now); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := s.outputs[0].gaps, []string{"south/b: lost", "north/a: lost"}; !slices.Equal(got, want) {
			t.Errorf("told in the order %v: gaps %v, want %v", order, got, want)
		}
	}
}

// TestGapsDoNotPileUp shows that an input which tells of gap after gap while another one is missing is held: those of one place
// are told as one, and those of many make it wait.
func TestGapsDoNotPileUp(t *testing.T) {
	s := newStage(t, unionQuery, func(c *Config) { c.WaitingRows = 100 * gapRows })
	in := s.r.inputs[0]
	var u *union
	for _, f := range in.feeds {
		u = s.r.unions[f.union]
	}
	lower := func(at tuple.Time, k int) *tuple.Frame {
		return &tuple.Frame{Kind: tuple.Gap, Generation: 1, Time: at - tuple.Time(k), To: at + tuple.Time(k), Reason: "lost"}
	}
	in.Boundary(1000*ms, dcaa.Age{})
	for k := range 1000 {
		in.Gap(lower(1000*ms, k))
	}
	if g := u.gaps; len(g) != 1 || g[0].from != 1000*ms-999 || g[0].to != 1000*ms+999 {
		t.Fatalf("%d gaps of one place wait, the first of [%v, %v)", len(g), g[0].from, g[0].to)
	}
	for k := tuple.Time(1); !s.r.Held(0); k++ {
		if k == 1000 {
			t.Fatal("the input is not held")
		}
		in.Boundary(1000*ms+100*k*ms, dcaa.Age{})
		in.Gap(lower(1000*ms+100*k*ms, 1))
	}
}

// TestPlaceAcrossGenerations shows that an input which enters two SUnions goes on, and is acknowledged, from the one that
// has not gone over to its new generation, although the ids there are higher.
func TestPlaceAcrossGenerations(t *testing.T) {
	old := tuple.Position{Generation: 1, ID: 1000, Time: 5000 * ms}
	fresh := tuple.Position{Generation: 2, ID: 5, Time: 5000 * ms}
	other := tuple.Position{Generation: 1, ID: 1, Time: 5000 * ms}
	s := newStage(t, selfQuery, nil)
	var feeds []feed
	for n := range s.r.inputs {
		if s.r.inputs[n].stream == "north/a" {
			feeds = s.r.inputs[n].feeds
		}
	}
	if len(feeds) != 2 {
		t.Fatalf("the input enters %d SUnions, want 2", len(feeds))
	}
	for _, late := range []int{0, 1} {
		st := State{Boundary: old.Time, Outputs: []OutputState{s.r.numbers[0].State()}}
		for _, u := range s.plan.Unions {
			st.Inputs = append(st.Inputs, slices.Repeat([]tuple.Position{other}, len(u.Inputs)))
		}
		st.Inputs[feeds[late].union][feeds[late].input] = old
		st.Inputs[feeds[1-late].union][feeds[1-late].input] = fresh
		input := s.plan.Unions[feeds[0].union].Inputs[feeds[0].input]
		if got := st.Covered(s.plan, input); got != old {
			t.Errorf("covered up to %v, want %v", got, old)
		}
		r, err := build(s.r.cfg, s.now, s)
		if err != nil {
			t.Fatal(err)
		}
		r.begin(st.Inputs, s.now)
		if got := r.inputs[input].intake.Position(); got != old {
			t.Errorf("goes on from %v, want %v", got, old)
		}
	}
}
