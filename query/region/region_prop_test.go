package region

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawDiagram draws exchanges between random sides. Where acyclic is true every producer is before every consumer, else
// cycles are likely.
func drawDiagram(r *rapid.T, acyclic bool) Diagram {
	d := Diagram{Vertices: rapid.IntRange(2, 16).Draw(r, "vertices")}
	vertex := func(lo, hi int) *rapid.Generator[[]Vertex] {
		return rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(lo, hi), func(v int) Vertex { return Vertex(v) }), 1, 5, rapid.ID)
	}
	order := rapid.Permutation(seq(d.Vertices)).Draw(r, "order") // numbers say nothing of the direction
	rename := func(side []Vertex) []Vertex {
		out := make([]Vertex, len(side))
		for i, v := range side {
			out[i] = order[v]
		}
		return out
	}
	for range rapid.IntRange(0, 8).Draw(r, "exchanges") {
		lo, hi := 1, 0
		if acyclic {
			cut := rapid.IntRange(1, d.Vertices-1).Draw(r, "cut")
			lo, hi = cut, cut-1
		} else {
			lo, hi = 0, d.Vertices-1
		}
		side := func(lo, hi int, name string) []Vertex {
			if hi-lo < 4 {
				return rename(rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(lo, hi), func(v int) Vertex { return Vertex(v) }), 1, hi-lo+1, rapid.ID).Draw(r, name))
			}
			return rename(vertex(lo, hi).Draw(r, name))
		}
		d.Exchanges = append(d.Exchanges, Exchange{Producers: side(0, hi, "producers"), Consumers: side(lo, d.Vertices-1, "consumers"),
			Kind: rapid.SampledFrom([]Kind{Stored, Pipelined}).Draw(r, "kind")})
	}
	return d
}

func seq(n int) []Vertex {
	out := make([]Vertex, n)
	for i := range out {
		out[i] = Vertex(i)
	}
	return out
}

// Over random diagrams, regions and sets are those of the search edge by edge; what is asked is asked once.
func TestAgreesWithTheNaiveSearch(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := drawDiagram(r, true)
		m, err := New(d)
		require.NoError(t, err)
		n := newNaive(d)
		for a := range d.Vertices {
			for b := range d.Vertices {
				require.Equal(t, n.region[a] == n.region[b], m.Region(Vertex(a)) == m.Region(Vertex(b)))
			}
		}
		lost := map[Output]bool{}
		n.edges(func(x int, p, _ Vertex, _ Kind) { lost[Output{x, p}] = false })
		outputs := make([]Output, 0, len(lost))
		for i, x := range d.Exchanges {
			for _, p := range x.Producers {
				outputs = append(outputs, Output{i, p})
			}
		}
		for _, o := range outputs {
			lost[o] = rapid.Bool().Draw(r, "lost")
		}
		failed := rapid.SliceOfN(rapid.SampledFrom(seq(d.Vertices)), 0, 3).Draw(r, "failed")
		asked := map[Output]bool{}
		set, err := m.Restart(failed, func(o Output) bool {
			require.False(t, asked[o], "%+v is asked for twice", o)
			asked[o] = true
			require.Equal(t, Stored, d.Exchanges[o.Exchange].Kind)
			return !lost[o]
		})
		require.NoError(t, err)
		want := n.restart(failed, func(o Output) bool { return !lost[o] })
		require.Equal(t, want, nilIfEmpty(set.Vertices))
		checkReasons(t, m, set, failed, lost)
	})
}

func nilIfEmpty(v []Vertex) []Vertex {
	if len(v) == 0 {
		return nil
	}
	return v
}

// checkReasons: each region of a set is there for a reason that holds, and reasons lead back to a failure.
func checkReasons(t *testing.T, m *Map, set Set, failed []Vertex, lost map[Output]bool) {
	t.Helper()
	by := map[int]Restarted{}
	for i, r := range set.Regions {
		require.True(t, i == 0 || set.Regions[i-1].Region < r.Region)
		by[r.Region] = r
	}
	for _, r := range set.Regions {
		from := by[r.From]
		require.Equal(t, r.From, from.Region)
		switch r.Why {
		case Failed:
			require.True(t, slices.ContainsFunc(failed, func(v Vertex) bool { return m.Region(v) == r.Region }))
		case Needed:
			require.Equal(t, r.Region, m.Region(r.Output.Producer))
			require.True(t, lost[r.Output])
		case Reads:
			require.Equal(t, r.From, m.Region(r.Output.Producer))
		}
		for steps := 0; from.Why != Failed; steps++ {
			require.LessOrEqual(t, steps, len(set.Regions))
			from = by[from.From]
		}
		require.NotEmpty(t, m.Explain(r))
	}
}

// A diagram is refused exactly if it has a cycle, and the cycle that is told is one.
func TestCyclesAreRefused(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := drawDiagram(r, false)
		n := newNaive(d)
		_, err := New(d)
		if !n.cyclic() {
			require.NoError(t, err)
			return
		}
		var cycle *CycleError
		require.ErrorAs(t, err, &cycle)
		for i, v := range cycle.Vertices {
			require.True(t, n.isEdge(v, cycle.Vertices[(i+1)%len(cycle.Vertices)]), "%v", cycle)
		}
	})
}

// Partitions make the same diagram grouped as they do one by one.
func TestGroupChangesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := drawDiagram(r, true)
		var parts []Partition
		for _, x := range d.Exchanges {
			for _, p := range x.Producers {
				parts = append(parts, Partition{Producer: p, Consumers: x.Consumers, Kind: x.Kind})
			}
		}
		single := Diagram{Vertices: d.Vertices}
		for _, p := range parts {
			single.Exchanges = append(single.Exchanges, Exchange{Producers: []Vertex{p.Producer}, Consumers: p.Consumers, Kind: p.Kind})
		}
		grouped := Diagram{Vertices: d.Vertices, Exchanges: Group(parts)}
		require.LessOrEqual(t, len(grouped.Exchanges), max(len(parts), 0))
		a, err := New(single)
		require.NoError(t, err)
		b, err := New(grouped)
		require.NoError(t, err)
		failed := []Vertex{rapid.SampledFrom(seq(d.Vertices)).Draw(r, "failed")}
		for _, kept := range []bool{true, false} {
			available := func(Output) bool { return kept }
			x, err := a.Restart(failed, available)
			require.NoError(t, err)
			y, err := b.Restart(failed, available)
			require.NoError(t, err)
			require.Equal(t, x.Vertices, y.Vertices)
		}
	})
}
