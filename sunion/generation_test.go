package sunion

import (
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

// TestGenerationOfAHistory shows that the same losses give the same generations, that a history which differs in any of
// them, in their order or in how far the output had got has others, and that each is above the one before.
func TestGenerationOfAHistory(t *testing.T) {
	type step struct {
		rows uint64
		loss Loss
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rows: rapid.Uint64Range(0, 3).Draw(t, "rows"), loss: Loss{Stream: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "stream"),
			At: tuple.Time(rapid.Int64Range(-1, 3).Draw(t, "at")) * tuple.Time(tuple.Minute), Next: tuple.Position{
				Generation: rapid.Uint64Range(1, 3).Draw(t, "generation"), ID: rapid.Uint64Range(0, 2).Draw(t, "id")}}}
	}), 1, 4)
	run := func(t *rapid.T, list []step) (all []uint64) {
		o := NewSOutput(1)
		for _, s := range list {
			before := o.generation
			o.next += s.rows
			if g := o.NextGeneration(s.loss); g <= before || g != o.State().Generation || o.State().Next != 1 {
				t.Fatalf("generation %d after %d, %+v", g, before, o.State())
			} else if g >= 1<<53 {
				t.Fatalf("generation %d is beyond what a float64 tells apart", g)
			}
			all = append(all, o.generation)
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := steps.Draw(t, "a"), steps.Draw(t, "b")
		x, y := run(t, a), run(t, b)
		same := true
		for n := range min(len(a), len(b)) {
			same = same && a[n] == b[n]
			if (x[n] == y[n]) != same {
				t.Fatalf("generations %d and %d of histories that are the same: %v", x[n], y[n], same)
			}
		}
	})
}

// TestGenerationOfFarTimes shows that stimes which nobody means leave room for what follows.
func TestGenerationOfFarTimes(t *testing.T) {
	o := NewSOutput(1)
	for range 3 {
		before := o.State().Generation
		if g := o.NextGeneration(Loss{Stream: "a", At: tuple.MaxTime}); g <= before {
			t.Fatalf("generation %d after %d", g, before)
		}
	}
}

// TestOrigins shows that a generation which begins anew is numbered by its origin alone, whatever the output gave before, that
// other origins have other numbers, and that numbers rise.
func TestOrigins(t *testing.T) {
	at := func(second int64, generation uint64) Origin {
		return Origin{At: tuple.Time(second * tuple.Second), Streams: []Begun{{"a", 1}, {"b", generation}}}
	}
	const base = 1_767_225_600
	a, b := NewSOutput(1), NewSOutput(1)
	a.next = 40
	a.Begin(at(base, 1))
	if x, y := a.Begin(at(base+1, 1)), b.Begin(at(base+1, 1)); x != y || a.State() != b.State() || b.State().Next != 1 {
		t.Fatalf("generations %d and %d of one origin, %+v and %+v", x, y, a.State(), b.State())
	}
	seen := map[uint64]bool{a.State().Generation: true}
	for _, o := range []Origin{at(base+1, 2), at(base+2, 1), at(base+61, 1)} {
		if g := o.Generation(); seen[g] || g >= 1<<53 {
			t.Fatalf("generation %d of %+v is taken, or beyond what a float64 tells apart", g, o)
		} else {
			seen[g] = true
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		o := NewSOutput(1)
		for range 4 {
			before := o.State().Generation
			if g := o.Begin(at(rapid.Int64Range(-1, 120).Draw(t, "second"), rapid.Uint64Range(1, 2).Draw(t, "generation"))); g <= before {
				t.Fatalf("generation %d after %d", g, before)
			}
		}
	})
}
