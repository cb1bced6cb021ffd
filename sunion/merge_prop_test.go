package sunion

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"
)

// spread says how the stimes of n rows of one input among so many lie.
type spread struct {
	name string
	time func(r *rand.Rand, input, inputs, i, n int) tuple.Time
}

func spreads() []spread {
	return []spread{
		{"one by one", func(_ *rand.Rand, input, inputs, i, _ int) tuple.Time { return tuple.Time(i*inputs + input) }},
		{"at random", func(r *rand.Rand, _, inputs, i, _ int) tuple.Time { return tuple.Time(i*8 + r.IntN(8*inputs)) }},
		{"equal on every input", func(_ *rand.Rand, _, _, i, _ int) tuple.Time { return tuple.Time(i) }},
		{"equal in stretches", func(_ *rand.Rand, _, _, i, _ int) tuple.Time { return tuple.Time(i / 50 * 50) }},
		{"all equal", func(*rand.Rand, int, int, int, int) tuple.Time { return 7 }},
		{"one after the other", func(_ *rand.Rand, input, _, i, n int) tuple.Time { return tuple.Time(input*n + i) }},
		{"long runs in turn", func(_ *rand.Rand, input, inputs, i, _ int) tuple.Time {
			return tuple.Time((i/90*inputs+input)*90 + i%90)
		}},
		{"far apart", func(_ *rand.Rand, input, _, i, _ int) tuple.Time {
			return tuple.MinTime + 1 + tuple.Time(i)<<33 + tuple.Time(input)<<(i%50)
		}},
		{"from end to end", func(_ *rand.Rand, _, _, i, _ int) tuple.Time {
			if i%2 == 0 {
				return tuple.MinTime
			}
			return tuple.MaxTime - 1
		}},
		{"a crowd among few", func(r *rand.Rand, _, _, i, n int) tuple.Time {
			if i > n/10 && i < n-n/10 {
				return 1000
			}
			return tuple.Time(r.IntN(2000))
		}},
	}
}

// mergeInput is what one stream of a merge is made of.
type mergeInput struct {
	rows     []row
	cut      int  // rows of a frame
	plain    bool // strings have no dictionary of distinct values
	sameDict bool // the frames' dictionaries are of one lineage
}

func drawInput(r *rand.Rand, s spread, input, inputs, n int) mergeInput {
	in := mergeInput{cut: 1 + r.IntN(400), plain: r.IntN(3) == 0, sameDict: r.IntN(2) == 0}
	nulls, names := r.IntN(2) == 0, 1+r.IntN(40)
	for i := range n {
		x := row{time: s.time(r, input, inputs, i, n), input: input, id: uint64(i + 1), v: int64(input)<<32 | int64(i)}
		if !nulls || r.IntN(3) > 0 {
			x.k = fmt.Sprintf("%d of %d", r.IntN(names), input%3)
		}
		in.rows = append(in.rows, x)
	}
	if r.IntN(3) > 0 { // in order, as most streams are
		slices.SortStableFunc(in.rows, func(a, b row) int {
			switch {
			case a.time < b.time:
				return -1
			case a.time > b.time:
				return 1
			}
			return 0
		})
		for i := range in.rows {
			in.rows[i].id = uint64(i + 1)
		}
	}
	return in
}

func (in mergeInput) insert(t rapid.TB, u *SUnion, n int) {
	b := tuple.NewBatchBuilder(testSchema)
	for part := range slices.Chunk(in.rows, max(in.cut, 1)) {
		if !in.sameDict {
			b = tuple.NewBatchBuilder(testSchema)
		}
		for _, x := range part {
			appendRow(b, x)
		}
		got := b.Take()
		if in.plain {
			got.Cols[0] = tupletest.Plain(&got.Cols[0])
		}
		f := &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: part[0].id, LastID: part[len(part)-1].id, Batch: got}
		if err := u.Insert(n, f); err != nil {
			t.Fatal(err)
		}
	}
}

// checkMerge merges inputs in one release and compares what comes with the model, row by row.
func checkMerge(t rapid.TB, ins []mergeInput, maxRows int) {
	u, err := New(Config{Schema: testSchema, Inputs: len(ins), Bucket: 10, MaxRows: maxRows})
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	for n, in := range ins {
		in.insert(t, u, n)
		u.Boundary(n, tuple.MaxTime)
		all = append(all, in.rows...)
	}
	var got []string
	err = u.Release(u.Stable(), func(b *tuple.Batch) error {
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		if b.Rows() == 0 || b.Rows() > maxRows {
			t.Fatalf("a batch of %d rows, want 1 to %d", b.Rows(), maxRows)
		}
		if !b.Ordered {
			t.Fatal("a merged batch does not say that it is in order")
		}
		got = append(got, render(b)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := model(all)
	if len(got) != len(want) {
		t.Fatalf("%d rows came, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("row %d of %d: got %s, want %s", i, len(want), got[i], want[i])
		}
	}
}

// However stimes are spread over 1 to 16 inputs, some of them empty, and whatever strings, nulls and cuts: the merged rows
// are the model's.
func TestMergeOrder(t *testing.T) {
	for _, s := range spreads() {
		t.Run(s.name, rapid.MakeCheck(func(t *rapid.T) {
			inputs, maxRows := rapid.IntRange(1, 16).Draw(t, "inputs"), rapid.SampledFrom([]int{1, 7, 100, 1000, 4096}).Draw(t, "max rows")
			seed := rapid.Uint64().Draw(t, "seed")
			r := rand.New(rand.NewPCG(seed, 1))
			ins := make([]mergeInput, inputs)
			for n := range ins {
				if rapid.IntRange(0, 5).Draw(t, "empty") > 0 {
					ins[n] = drawInput(r, s, n, inputs, 1+r.IntN(250))
				}
			}
			checkMerge(t, ins, maxRows)
		}))
	}
}

// A release of more rows than are looked at for one batch is the model's too.
func TestMergeWide(t *testing.T) {
	for _, s := range spreads() {
		t.Run(s.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 5))
			ins := make([]mergeInput, 3)
			for n := range ins {
				ins[n] = drawInput(r, s, n, len(ins), wideRows/2)
				ins[n].cut = 4096
			}
			checkMerge(t, ins, 4096)
		})
	}
}
