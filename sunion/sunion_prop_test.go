package sunion

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

var testSchema = tuple.MustSchema(
	tuple.Field{Name: "k", Type: tuple.Of(tuple.String)},
	tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)},
	tuple.Field{Name: "l", Type: tuple.ListOf(tuple.Of(tuple.String))},
)

// row is one tuple of the obvious model.
type row struct {
	time  tuple.Time
	input int
	id    uint64
	k     string // "" is null
	v     int64
}

func (r row) String() string { return fmt.Sprintf("%d %q %d [%s]", r.time, r.k, r.v, r.k) }

// frames cuts the rows of one stream into frames at random, with a new dictionary at random places.
func frames(t *rapid.T, rows []row) []*tuple.Frame {
	var out []*tuple.Frame
	b := tuple.NewBatchBuilder(testSchema)
	first := uint64(1)
	flush := func() {
		if n := uint64(b.Rows()); n > 0 {
			out = append(out, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: b.Take()})
			first += n
		}
	}
	for _, r := range rows {
		appendRow(b, r)
		if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
			flush()
			if rapid.Bool().Draw(t, "new dictionary") {
				b = tuple.NewBatchBuilder(testSchema)
			}
		}
	}
	flush()
	return out
}

func appendRow(b *tuple.BatchBuilder, r row) {
	if r.k == "" {
		b.AppendNull(0)
	} else {
		b.AppendBin(0, []byte(r.k))
	}
	b.AppendInt(1, r.v)
	b.AppendElemBin(2, []byte(r.k))
	b.EndList(2)
	b.EndRow(r.time)
}

// stream draws the rows of one input: disordered by at most slack.
func stream(t *rapid.T, input int, slack int64) []row {
	n := rapid.IntRange(0, 40).Draw(t, "rows")
	high, rows := tuple.Time(0), []row(nil)
	for i := range n {
		high += tuple.Time(rapid.Int64Range(0, 30).Draw(t, "step"))
		at := high - tuple.Time(rapid.Int64Range(0, slack).Draw(t, "late"))
		rows = append(rows, row{time: at, input: input, id: uint64(i + 1),
			k: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "k"), v: rapid.Int64Range(0, 9).Draw(t, "v")})
	}
	return rows
}

// model is the order the union promises: by stime, input, id.
func model(rows []row) []string {
	rows = slices.Clone(rows)
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		if a.time != b.time {
			return a.time < b.time
		}
		if a.input != b.input {
			return a.input < b.input
		}
		return a.id < b.id
	})
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.String()
	}
	return out
}

func render(b *tuple.Batch) []string {
	var out []string
	for i := range b.Rows() {
		r := b.Row(i)
		x := row{time: b.Time[r], v: b.Cols[1].Int[r]}
		if !b.Cols[0].IsNull(r) {
			x.k = string(b.Cols[0].Bin(r))
		}
		l := &b.Cols[2]
		if l.Off[r+1] != l.Off[r]+1 {
			out = append(out, "a list of another length")
			continue
		}
		out = append(out, fmt.Sprintf("%d %q %d [%s]", x.time, x.k, x.v, l.Elem.Bin(int(l.Off[r]))))
	}
	return out
}

// TestUnionOrder shows that whatever the cuts, the interleaving of inputs and the times of release, the released rows
// are the model's, and that no row leaves before its bucket is complete.
func TestUnionOrder(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		t.Run(fmt.Sprintf("unordered=%v", unordered), rapid.MakeCheck(func(t *rapid.T) {
			inputs := rapid.IntRange(1, 4).Draw(t, "inputs")
			bucket := rapid.SampledFrom([]int64{1, 10, 100}).Draw(t, "bucket")
			const slack = 15
			u, err := New(Config{Schema: testSchema, Inputs: inputs, Bucket: bucket, Unordered: unordered, MaxRows: rapid.IntRange(1, 9).Draw(t, "max rows")})
			if err != nil {
				t.Fatal(err)
			}
			var all []row
			queues := make([][]*tuple.Frame, inputs)
			for n := range inputs {
				rows := stream(t, n, slack)
				all = append(all, rows...)
				queues[n] = frames(t, rows)
			}
			var got []string
			from := tuple.MinTime
			release := func() {
				to := u.Stable()
				err := u.Release(to, func(b *tuple.Batch) error {
					last := tuple.MinTime
					for i := range b.Rows() {
						at := b.Time[b.Row(i)]
						if at < from || at >= to {
							t.Fatalf("stime %v released with bucket [%v, %v)", at, from, to)
						}
						if b.Ordered && at < last {
							t.Fatalf("stime %v after %v in a batch that says it is ordered", at, last)
						}
						last = at
					}
					got = append(got, render(b)...)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				from = max(from, to)
			}
			high := make([]tuple.Time, inputs)
			for {
				open := open(queues)
				if len(open) == 0 {
					break
				}
				n := rapid.SampledFrom(open).Draw(t, "input")
				f := queues[n][0]
				queues[n] = queues[n][1:]
				if err := u.Insert(n, f); err != nil {
					t.Fatal(err)
				}
				if err := u.Insert(n, f); err != nil { // a replayed frame changes nothing
					t.Fatal(err)
				}
				high[n] = max(high[n], slices.Max(f.Batch.Time))
				u.Boundary(n, high[n]-slack)
				release()
			}
			for n := range inputs {
				u.Boundary(n, tuple.MaxTime)
			}
			release()
			want := model(all)
			if unordered {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("got  %v\nwant %v", got, want)
			}
			for n := range inputs {
				if u.Waiting(n) != 0 {
					t.Fatalf("%d rows still wait in input %d", u.Waiting(n), n)
				}
			}
		}))
	}
}

func open(queues [][]*tuple.Frame) []int {
	var out []int
	for n, q := range queues {
		if len(q) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// TestResume shows that an SUnion resumed at the positions of another, fed with ids above them, goes on with exactly
// what the first would have released.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := stream(t, 0, 15)
		fs := frames(t, rows)
		cut := rapid.IntRange(0, len(fs)).Draw(t, "cut")
		newUnion := func() *SUnion {
			u, err := New(Config{Schema: testSchema, Inputs: 1, Bucket: 10})
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		var got []string
		keep := func(b *tuple.Batch) error { got = append(got, render(b)...); return nil }
		u := newUnion()
		high := tuple.Time(0)
		for _, f := range fs[:cut] {
			if err := u.Insert(0, f); err != nil {
				t.Fatal(err)
			}
			high = max(high, slices.Max(f.Batch.Time))
			u.Boundary(0, high-15)
		}
		if err := u.Release(u.Stable(), keep); err != nil {
			t.Fatal(err)
		}
		p := u.Position(0)
		second := newUnion()
		second.Resume(0, p)
		for _, f := range fs { // the producer sends whole frames that reach past the position
			if f.LastID <= p.ID {
				continue
			}
			if err := second.Insert(0, f); err != nil {
				t.Fatal(err)
			}
		}
		second.Boundary(0, tuple.MaxTime)
		if err := second.Release(tuple.MaxTime, keep); err != nil {
			t.Fatal(err)
		}
		if want := model(rows); !slices.Equal(got, want) {
			t.Fatalf("position %v\ngot  %v\nwant %v", p, got, want)
		}
	})
}
