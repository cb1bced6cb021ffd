package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// lines collects the results of a fragment as text, in order.
type lines struct{ got []string }

func (l *lines) Batch(n int, b *tuple.Batch) error {
	for i := range b.Rows() {
		r := b.Row(i)
		s := fmt.Appendf(nil, "%d %v", n, b.Time[r])
		for c := range b.Cols {
			s = b.Cols[c].AppendText(append(s, ' '), r)
		}
		l.got = append(l.got, string(s))
	}
	return nil
}

func (l *lines) Boundary(int, tuple.Time) error { return nil }

// randomDiagram draws a chain of operators over the union of two streams, with aggregates that care for order or not.
func randomDiagram(rnd *rand.Rand) string {
	var s strings.Builder
	s.WriteString("[query]\nname = \"q\"\nmax_delay = \"inf\"\n")
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&s, "[streams.%s]\nconnector = \"node\"\nstream = \"%s/x\"\ntime = \"ts\"\ncolumns = { ts = \"timestamp\", k = \"string\", v = \"int64\" }\n", name, name)
	}
	s.WriteString("[operators.both]\nkind = \"union\"\ninputs = [\"a\", \"b\"]\n")
	last := "both"
	for n := range rnd.IntN(3) {
		name := fmt.Sprintf("f%d", n)
		fmt.Fprintf(&s, "[operators.%s]\nkind = \"filter\"\ninput = %q\nwhere = \"v > %d\"\n", name, last, rnd.IntN(30))
		last = name
	}
	if rnd.IntN(6) > 0 {
		all := []string{"count()", "sum(v)", "min(v)", "max(k)", "count_distinct(v)", "first(v)", "last(k)"}
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var aggregates []string
		for n, f := range all[:1+rnd.IntN(3)] {
			aggregates = append(aggregates, fmt.Sprintf("x%d = %q", n, f))
		}
		fmt.Fprintf(&s, "[operators.sums]\nkind = \"aggregate\"\ninput = %q\nwindow = { tumbling = \"1s\" }\ngroup_by = [\"k\"]\naggregates = { %s }\n", last, strings.Join(aggregates, ", "))
		last = "sums"
	}
	fmt.Fprintf(&s, "[outputs.o]\ninput = %q\nconnector = \"node\"\n", last)
	return s.String()
}

// results runs a fragment over random rows, cut into random batches by the seed.
func results(t *testing.T, f *query.FragmentPlan, seed uint64, ordered bool) []string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 5))
	out := &lines{}
	inst := query.NewInstance(f, out)
	for n, u := range f.Unions {
		su, err := sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: f.Bucket, Unordered: u.Unordered && !ordered})
		if err != nil {
			t.Fatal(err)
		}
		for in := range u.Inputs {
			b := tuple.NewBatchBuilder(u.Schema)
			id := uint64(1)
			for at := range 300 {
				ts := tuple.Time(at/3) * 100_000 // rows of both inputs share their stimes
				b.AppendInt(0, int64(ts))
				b.AppendBin(1, fmt.Appendf(nil, "k%d", rnd.IntN(4)))
				b.AppendInt(2, int64(rnd.IntN(100)))
				b.EndRow(ts)
				if rnd.IntN(9) == 0 || at == 299 {
					rows := uint64(b.Rows())
					if err := su.Insert(in, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id + rows - 1, Batch: b.Take()}); err != nil {
						t.Fatal(err)
					}
					id += rows
				}
			}
			su.Boundary(in, tuple.MaxTime)
		}
		if err := su.Release(su.Stable(), func(b *tuple.Batch) error { return inst.Process(n, b) }); err != nil {
			t.Fatal(err)
		}
	}
	for n := range f.Unions {
		if err := inst.Boundary(n, tuple.MaxTime); err != nil {
			t.Fatal(err)
		}
	}
	return out.got
}

// TestUnorderedChangesNothing shows that where the planner lets rows pass unmerged, results are what they are when all is
// merged; and that it does so for some diagrams and not for others.
func TestUnorderedChangesNothing(t *testing.T) {
	unmerged, merged := 0, 0
	for seed := range uint64(150) {
		src := randomDiagram(rand.New(rand.NewPCG(seed, 3)))
		at := query.Placement{Home: query.Place{Org: "north", Node: "n1"}, Local: true}
		d, problems := query.Parse("q.toml", []byte(src), query.Options{Placement: at})
		if err := problems.Err(); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		for _, f := range query.NewPlan(d, at, problems).Fragments {
			for _, u := range f.Unions {
				if u.Unordered {
					unmerged++
				} else {
					merged++
				}
			}
			want, got := results(t, f, seed, true), results(t, f, seed, false)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: unmerged rows give other results:\n%v\nwant\n%v\n%s", seed, got, want, src)
			}
			if len(want) == 0 {
				t.Fatalf("seed %d gives no results:\n%s", seed, src)
			}
		}
	}
	if unmerged < 20 || merged < 20 {
		t.Fatalf("%d SUnions pass rows unmerged, %d do not: the test needs both", unmerged, merged)
	}
}
