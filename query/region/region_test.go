package region

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

// wordCount is two sources that are pipelined into two splitters, an all-to-all exchange to three counters that is stored,
// and a sink that the counters are pipelined into: 0, 1 → 2, 3 ⇒ 4, 5, 6 → 7.
func wordCount() Diagram {
	return Diagram{Vertices: 8, Exchanges: []Exchange{
		{Producers: []Vertex{0}, Consumers: []Vertex{2}, Kind: Pipelined},
		{Producers: []Vertex{1}, Consumers: []Vertex{3}, Kind: Pipelined},
		{Producers: []Vertex{2, 3}, Consumers: []Vertex{4, 5, 6}, Kind: Stored},
		{Producers: []Vertex{4, 5, 6}, Consumers: []Vertex{7}, Kind: Pipelined},
	}}
}

func TestWordCount(t *testing.T) {
	m, err := New(wordCount())
	require.NoError(t, err)
	require.Equal(t, 3, m.Regions())
	require.Equal(t, []Vertex{0, 2}, m.Members(0))
	require.Equal(t, []Vertex{4, 5, 6, 7}, m.Members(m.Region(5)))
	all := func(Output) bool { return true }
	// A counter takes its region; what the splitters gave is still there.
	set, err := m.Restart([]Vertex{5}, all)
	require.NoError(t, err)
	require.Equal(t, []Vertex{4, 5, 6, 7}, set.Vertices)
	require.Equal(t, "vertex 4 restarts: it failed", m.Explain(set.Regions[0]))
	// A splitter takes its source, and everything downstream, but not the other splitter.
	set, err = m.Restart([]Vertex{2}, all)
	require.NoError(t, err)
	require.Equal(t, []Vertex{0, 2, 4, 5, 6, 7}, set.Vertices)
	require.Equal(t, "vertex 4 restarts: it reads from vertex 0, which restarts", m.Explain(set.Regions[1]))
	// Unless what that one gave is gone as well.
	set, err = m.Restart([]Vertex{7}, func(o Output) bool { return o.Producer == 2 })
	require.NoError(t, err)
	require.Equal(t, []Vertex{1, 3, 4, 5, 6, 7}, set.Vertices)
	require.Equal(t, "vertex 1 restarts: vertex 4, which restarts, needs its output again", m.Explain(set.Regions[0]))
	// Nothing known to be available, nothing failed, everything failed.
	set, err = m.Restart([]Vertex{7}, nil)
	require.NoError(t, err)
	require.Len(t, set.Vertices, 8)
	set, err = m.Restart(nil, nil)
	require.NoError(t, err)
	require.Empty(t, set.Vertices)
	set, err = m.Restart([]Vertex{7, 0, 1, 7}, all)
	require.NoError(t, err)
	require.Len(t, set.Vertices, 8)
}

// Parts that nothing joins are regions of their own, and a failure of one leaves the others alone.
func TestUnconnectedParts(t *testing.T) {
	d := wordCount()
	d.Vertices = 11
	d.Exchanges = append(d.Exchanges, Exchange{Producers: []Vertex{8}, Consumers: []Vertex{9}, Kind: Stored}) // 10 is alone
	m, err := New(d)
	require.NoError(t, err)
	require.Equal(t, 6, m.Regions())
	for v, want := range map[Vertex][]Vertex{8: {8, 9}, 9: {8, 9}, 10: {10}} {
		set, err := m.Restart([]Vertex{v}, nil)
		require.NoError(t, err)
		require.Equal(t, want, set.Vertices)
	}
	set, err := m.Restart([]Vertex{0}, nil)
	require.NoError(t, err)
	require.Len(t, set.Vertices, 8)
	m, err = New(Diagram{})
	require.NoError(t, err)
	require.Zero(t, m.Regions())
}

func TestBadDiagrams(t *testing.T) {
	for _, c := range []struct {
		d    Diagram
		says string
	}{
		{Diagram{Vertices: -1}, "-1 vertices: expected 0 to 2147483647"},
		{Diagram{Vertices: 2, Names: []string{"a"}}, "1 names for 2 vertices"},
		{Diagram{Vertices: 2, Exchanges: []Exchange{{Producers: []Vertex{0}}}}, "exchange 0 has no consumer"},
		{Diagram{Vertices: 2, Exchanges: []Exchange{{Consumers: []Vertex{0}}}}, "exchange 0 has no producer"},
		{Diagram{Vertices: 2, Exchanges: []Exchange{{Producers: []Vertex{0}, Consumers: []Vertex{2}}}}, "exchange 0 has vertex 2 as a consumer: expected 0 to 1"},
		{Diagram{Vertices: 2, Exchanges: []Exchange{{Producers: []Vertex{-1}, Consumers: []Vertex{1}}}}, "exchange 0 has vertex -1 as a producer"},
		{Diagram{Vertices: 2, Exchanges: []Exchange{{Producers: []Vertex{0, 0}, Consumers: []Vertex{1}}}}, "exchange 0 has vertex 0 twice as a producer"},
		{Diagram{Vertices: 2, Exchanges: []Exchange{{Producers: []Vertex{0}, Consumers: []Vertex{1}, Kind: 9}}}, "kind 9: expected stored or pipelined"},
		{Diagram{Vertices: 1, Exchanges: []Exchange{{Producers: []Vertex{0}, Consumers: []Vertex{0}}}}, "the diagram has a cycle: vertex 0 → vertex 0: expected data to flow one way"},
		{Diagram{Vertices: 3, Names: []string{"a", "b", "c"}, Exchanges: []Exchange{{Producers: []Vertex{0}, Consumers: []Vertex{1}},
			{Producers: []Vertex{1}, Consumers: []Vertex{2}}, {Producers: []Vertex{2}, Consumers: []Vertex{1}}}}, "the diagram has a cycle: `"},
	} {
		_, err := New(c.d)
		require.ErrorContains(t, err, c.says)
	}
	// A long cycle is told in short.
	d := Diagram{Vertices: 1000}
	for v := range 1000 {
		d.Exchanges = append(d.Exchanges, Exchange{Producers: []Vertex{Vertex(v)}, Consumers: []Vertex{Vertex((v + 1) % 1000)}})
	}
	_, err := New(d)
	require.ErrorContains(t, err, "… → ")
	require.Less(t, len(err.Error()), 300)
	m, err := New(wordCount())
	require.NoError(t, err)
	for _, v := range []Vertex{-1, 8} {
		_, err = m.Restart([]Vertex{v}, nil)
		require.ErrorContains(t, err, "failed: expected 0 to 7")
	}
}

// Partitions with the same readers are one group, also where each has a list of its own.
func TestGroup(t *testing.T) {
	shared := []Vertex{5, 4}
	got := Group([]Partition{{0, shared, Stored}, {1, shared, Stored}, {2, []Vertex{4, 5, 4}, Stored}, {3, []Vertex{4}, Stored},
		{0, shared, Pipelined}, {0, shared, Stored}, {3, nil, Stored}, {3, shared[:1], Stored}})
	require.Equal(t, []Exchange{
		{Producers: []Vertex{0, 1, 2}, Consumers: []Vertex{4, 5}},
		{Producers: []Vertex{3}, Consumers: []Vertex{4}},
		{Producers: []Vertex{0}, Consumers: []Vertex{4, 5}, Kind: Pipelined},
		{Producers: []Vertex{0}, Consumers: []Vertex{4, 5}},
		{Producers: []Vertex{3}, Consumers: []Vertex{5}},
	}, got)
}

// The fragments of a query: their streams are buffered, so each is a region unless it is told otherwise.
func TestFragments(t *testing.T) {
	const file = `
[query]
name = "q"
[streams.s]
connector = "file"
path = "s.csv"
columns = { n = "int64" }
[operators.a]
kind = "filter"
input = "s"
where = "n > 1"
[operators.b]
kind = "filter"
input = "a"
where = "n > 2"
[operators.c]
kind = "union"
inputs = ["a", "b"]
[outputs.out]
input = "c"
connector = "file"
path = "out.csv"
[fragments.a]
operators = ["a"]
[fragments.b]
operators = ["b"]
[fragments.c]
operators = ["c"]
`
	d, problems := query.Parse("q.toml", []byte(file), query.Options{})
	require.NoError(t, problems.Err())
	plan := query.NewPlan(d, query.Placement{}, problems)
	require.NoError(t, problems.Err())
	got := Fragments(plan, nil)
	require.Equal(t, []string{"a", "b", "c"}, got.Names)
	m, err := New(got)
	require.NoError(t, err)
	require.Equal(t, 3, m.Regions())
	set, err := m.Restart([]Vertex{1}, func(Output) bool { return true })
	require.NoError(t, err)
	require.Equal(t, []Vertex{1, 2}, set.Vertices)
	require.Equal(t, "`c` restarts: it reads from `b`, which restarts", m.Explain(set.Regions[1]))
	set, err = m.Restart([]Vertex{2}, nil)
	require.NoError(t, err)
	require.Equal(t, []Vertex{0, 1, 2}, set.Vertices)
	m, err = New(Fragments(plan, func(stream string) bool { return stream == plan.Fragments[1].Outputs[0].Stream }))
	require.NoError(t, err)
	require.Equal(t, 2, m.Regions())
	require.Equal(t, m.Region(1), m.Region(2))
}
