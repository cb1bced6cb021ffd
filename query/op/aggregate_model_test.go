package op_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// sample is one row of the model: null where a pointer is nil. Floats are multiples of 1/4, so that sums are exact.
type sample struct {
	at  int64 // ms
	key *string
	v   *int64
	f   *float64
}

// modelWindow is a window with its rows in stream order; bounds in ms, of a count window in µs.
type modelWindow struct {
	start, end int64
	key        *string
	rows       []sample
}

const modelFunctions = `aggregates = { n = "count()", nv = "count(v)", sv = "sum(v)", sf = "sum(f)", av = "avg(v)", lo = "min(v)", hi = "max(f)",
	lok = "min(k)", sd = "stddev(v)", sp = "stddev_pop(v)", fi = "first(v)", la = "last(f)", dv = "count_distinct(v)", dk = "count_distinct(k)",
	ap = "approx_count_distinct(v)", q = "quantile(v, 0.75)", top = "top_k(v, 2)", all = "collect(f, 1000)" }`

// modelAggregate computes every function over the rows of a window as its definition reads.
func modelAggregate(w modelWindow) string {
	var vs []int64
	var fs []float64
	keys := map[string]bool{}
	counts := map[int64]int{}
	for _, r := range w.rows {
		if r.v != nil {
			vs = append(vs, *r.v)
			counts[*r.v]++
		}
		if r.f != nil {
			fs = append(fs, *r.f)
		}
		if r.key != nil {
			keys[*r.key] = true
		}
	}
	out := []string{fmt.Sprint(len(w.rows)), fmt.Sprint(len(vs))}
	add := func(some bool, value any) {
		if !some {
			value = "null"
		}
		out = append(out, fmt.Sprint(value))
	}
	var sum int64
	var fsum float64
	for _, v := range vs {
		sum += v
	}
	for _, f := range fs {
		fsum += f
	}
	n := float64(len(vs))
	squares := 0.0
	for _, v := range vs {
		squares += float64(v) * float64(v)
	}
	spread := n*squares - float64(sum)*float64(sum)
	sorted := slices.Sorted(slices.Values(vs))
	add(len(vs) > 0, sum)
	add(len(fs) > 0, fsum)
	add(len(vs) > 0, float64(sum)/n)
	add(len(vs) > 0, firstOf(sorted))
	add(len(fs) > 0, slices.Max(append([]float64{-1000}, fs...)))
	least := ""
	for k := range keys {
		if least == "" || k < least {
			least = k
		}
	}
	add(len(keys) > 0, least)
	add(len(vs) > 1, math.Sqrt(spread/(n*(n-1))))
	add(len(vs) > 0, math.Sqrt(spread/(n*n)))
	add(len(vs) > 0, firstOf(vs))
	add(len(fs) > 0, firstOf(fs[max(0, len(fs)-1):]))
	add(true, len(counts))
	add(true, len(keys))
	add(true, len(counts))
	add(len(vs) > 0, firstOf(sorted[min(len(vs), max(1, int(math.Ceil(0.75*n)))-1):]))
	add(len(vs) > 0, modelTop(counts))
	add(len(fs) > 0, strings.ReplaceAll(fmt.Sprint(fs), " ", ","))
	return strings.Join(out, " ")
}

// firstOf returns the first of a list, 0 if it is empty.
func firstOf[T int64 | float64](list []T) T {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

func modelTop(counts map[int64]int) string {
	var all []int64
	for v := range counts {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b int64) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return strings.ReplaceAll(fmt.Sprint(all[:min(2, len(all))]), " ", ",")
}

func floorTo(t, size int64) int64 { return t - ((t%size)+size)%size }

// modelSliding lists the windows of one group: every start that has a row.
func modelSliding(rows []sample, size, every int64) []modelWindow {
	var out []modelWindow
	starts := map[int64]bool{}
	for _, r := range rows {
		for s := floorTo(r.at, every); s > r.at-size; s -= every {
			starts[s] = true
		}
	}
	for s := range starts {
		w := modelWindow{start: s * 1000, end: (s + size) * 1000}
		for _, r := range rows {
			if r.at >= s && r.at < s+size {
				w.rows = append(w.rows, r)
			}
		}
		out = append(out, w)
	}
	return out
}

func modelSessions(rows []sample, gap, longest int64) []modelWindow {
	var out []modelWindow
	for _, r := range rows {
		if len(out) > 0 {
			w := &out[len(out)-1]
			last := w.rows[len(w.rows)-1].at
			if r.at < last+gap && (longest == 0 || r.at < w.start/1000+longest) {
				w.rows = append(w.rows, r)
				continue
			}
		}
		out = append(out, modelWindow{start: r.at * 1000, rows: []sample{r}})
	}
	for i := range out {
		w := &out[i]
		w.end = (w.rows[len(w.rows)-1].at + gap) * 1000
		if longest > 0 {
			w.end = min(w.end, w.start+longest*1000)
		}
	}
	return out
}

func modelCounts(rows []sample, count, every int) []modelWindow {
	var out []modelWindow
	for end := count; end <= len(rows); end += every {
		w := modelWindow{rows: rows[end-count : end]}
		w.start, w.end = w.rows[0].at*1000, w.rows[count-1].at*1000+1
		out = append(out, w)
	}
	return out
}

type modelKind struct {
	window  string
	windows func(rows []sample) []modelWindow
}

func modelKinds() []modelKind {
	return []modelKind{
		{`window = { tumbling = "50ms" }`, func(r []sample) []modelWindow { return modelSliding(r, 50, 50) }},
		{`window = { sliding = "50ms", every = "20ms" }`, func(r []sample) []modelWindow { return modelSliding(r, 50, 20) }},
		{`window = { session = "9ms" }`, func(r []sample) []modelWindow { return modelSessions(r, 9, 0) }},
		{`window = { session = "9ms", max = "15ms" }`, func(r []sample) []modelWindow { return modelSessions(r, 9, 15) }},
		{`window = { count = 5 }`, func(r []sample) []modelWindow { return modelCounts(r, 5, 5) }},
		{`window = { count = 6, every = 4 }`, func(r []sample) []modelWindow { return modelCounts(r, 6, 4) }},
	}
}

// modelResults lists the results of all groups in the canonical order.
func modelResults(rows []sample, windows func([]sample) []modelWindow) []string {
	groups := map[string][]sample{}
	for _, r := range rows {
		k := "0" // before every key
		if r.key != nil {
			k = "1" + *r.key
		}
		groups[k] = append(groups[k], r)
	}
	var all []modelWindow
	for _, g := range groups {
		for _, w := range windows(g) {
			w.key = g[0].key
			all = append(all, w)
		}
	}
	order := func(w modelWindow) string {
		if w.key == nil {
			return ""
		}
		return "k" + *w.key
	}
	slices.SortFunc(all, func(a, b modelWindow) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start), cmp.Compare(order(a), order(b)))
	})
	var out []string
	for _, w := range all {
		key := "null"
		if w.key != nil {
			key = *w.key
		}
		out = append(out, fmt.Sprintf("%d %d %d %s %s", w.end-1, w.start, w.end, key, modelAggregate(w)))
	}
	return out
}

// windowSink renders results as the model does.
type windowSink struct{ lines []string }

func (s *windowSink) Batch(_ int, b *tuple.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		line := fmt.Sprint(int64(b.Time[row]))
		for c := range b.Cols {
			col := &b.Cols[c]
			switch {
			case col.IsNull(row):
				line += " null"
			case c < 2:
				line += fmt.Sprint(" ", col.Int[row])
			case col.Type.Kind == tuple.Float64:
				line += fmt.Sprint(" ", col.Float[row])
			default:
				line += " " + string(col.AppendText(nil, row))
			}
		}
		s.lines = append(s.lines, line)
	}
	return nil
}

func randomSamples(rng *rand.Rand, n int) []sample {
	rows := make([]sample, n)
	at := int64(-200)
	for i := range rows {
		at += int64(rng.IntN(8))
		r := sample{at: at}
		if rng.IntN(9) > 0 {
			k := string(rune('a' + rng.IntN(4)))
			r.key = &k
		}
		if rng.IntN(5) > 0 {
			v := int64(rng.IntN(9) - 3)
			r.v = &v
		}
		if rng.IntN(5) > 0 {
			f := float64(rng.IntN(40)-20) / 4
			r.f = &f
		}
		rows[i] = r
	}
	return rows
}

func samplesBatch(b *tuple.BatchBuilder, rows []sample) *tuple.Batch {
	for _, r := range rows {
		if r.key == nil {
			b.AppendNull(0)
		} else {
			b.AppendBin(0, []byte(*r.key))
		}
		if r.v == nil {
			b.AppendNull(1)
		} else {
			b.AppendInt(1, *r.v)
		}
		if r.f == nil {
			b.AppendNull(2)
		} else {
			b.AppendFloat(2, *r.f)
		}
		b.EndRow(tuple.Time(r.at * 1000))
	}
	return b.Take()
}

// Every function over every kind of window is what its definition says, whatever the cuts and boundaries.
func TestAggregateModel(t *testing.T) {
	schema, err := optest.Schema("k string, v int64, f float64")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range modelKinds() {
		plan, err := optest.Build("aggregate", decl(kind.window, `group_by = ["k"]`, `limit = 100`, modelFunctions), []op.Input{{Name: "s", Schema: schema}})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 3))
			rows := randomSamples(rng, 1+rng.IntN(300))
			var got windowSink
			runSamples(t, plan.New(), rng, samplesBatch(tuple.NewBatchBuilder(schema), rows), &got)
			want := modelResults(rows, kind.windows)
			for i := range max(len(want), len(got.lines)) {
				w, g := "(end)", "(end)"
				if i < len(want) {
					w = want[i]
				}
				if i < len(got.lines) {
					g = got.lines[i]
				}
				if w != g {
					t.Fatalf("%s, seed %d, result %d:\n want %s\n got  %s", kind.window, seed, i, w, g)
				}
			}
		}
	}
}

// runSamples gives the rows in random cuts, with a boundary here and there.
func runSamples(t *testing.T, o op.Operator, rng *rand.Rand, all *tuple.Batch, out op.Out) {
	t.Helper()
	for lo := 0; lo < len(all.Time); {
		hi := min(len(all.Time), lo+1+rng.IntN(40))
		if err := o.Process(0, all.Slice(lo, hi), out); err != nil {
			t.Fatal(err)
		}
		if hi < len(all.Time) && rng.IntN(3) == 0 {
			if _, err := o.Boundary(0, all.Time[hi], out); err != nil {
				t.Fatal(err)
			}
		}
		lo = hi
	}
	if _, err := o.Boundary(0, tuple.MaxTime, out); err != nil {
		t.Fatal(err)
	}
}
