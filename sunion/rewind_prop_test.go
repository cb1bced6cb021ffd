package sunion

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

// suffixed is an input of the model: rows that are stable, and those of the suffix, in the order in which they came.
type suffixed struct {
	boundary, reached tuple.Time
	stable, suffix    []row
	nextID            uint64
}

// TestRewind shows that after Rewind the tentative side is handed once more all that it has had behind the stable side, but for
// what stable rows have replaced or was given up.
func TestRewind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const bucket = 10
		inputs := rapid.IntRange(1, 3).Draw(t, "inputs")
		u, err := New(Config{Schema: testSchema, Inputs: inputs, Bucket: bucket, ReplayRows: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		u.Boundary(0, 0)
		m := make([]suffixed, inputs)
		for n := range m {
			u.Boundary(n, 0)
			m[n].nextID = 1
		}
		if err := u.Release(0, nil); err != nil {
			t.Fatal(err)
		}
		u.Fork()
		none := func(*tuple.Batch) error { return nil }
		// rows draws some between two times and tells the SUnion of them.
		rows := func(n int, from, to tuple.Time, insert func(int, *tuple.Frame)) (list []row) {
			b := tuple.NewBatchBuilder(testSchema)
			first := m[n].nextID
			for range rapid.IntRange(1, 5).Draw(t, "rows") {
				r := row{time: tuple.Time(rapid.Int64Range(int64(from), int64(to)-1).Draw(t, "at")), input: n, id: m[n].nextID, k: "k", v: rapid.Int64Range(0, 9).Draw(t, "v")}
				m[n].nextID++
				appendRow(b, r)
				list = append(list, r)
			}
			insert(n, &tuple.Frame{Kind: tuple.Tentative, Generation: 1, FirstID: first, LastID: m[n].nextID - 1, Batch: b.Take()})
			return list
		}
		behind := func(list []row, at tuple.Time) []row {
			return slices.DeleteFunc(slices.Clone(list), func(r row) bool { return r.time < at })
		}
		far := tuple.Time(0)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			n := rapid.IntRange(0, inputs-1).Draw(t, "input")
			in := &m[n]
			weighed(t, u)
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				in.stable = append(in.stable, rows(n, in.boundary, in.boundary+30, func(n int, f *tuple.Frame) {
					if err := u.Insert(n, f); err != nil {
						t.Fatal(err)
					}
				})...)
			case 1:
				in.boundary += tuple.Time(rapid.Int64Range(1, 25).Draw(t, "boundary"))
				in.reached = max(in.reached, in.boundary)
				u.Boundary(n, in.boundary)
				in.suffix = behind(in.suffix, in.boundary)
			case 2:
				for _, r := range rows(n, in.reached, in.reached+30, u.InsertTentative) {
					r.id += 1 << 32 // of one stime the stable ones come first
					in.suffix = append(in.suffix, r)
				}
				in.reached += tuple.Time(rapid.Int64Range(0, 30).Draw(t, "reached"))
				u.TentativeBoundary(n, in.reached)
			case 3: // another replica carries the suffix on
				u.TrimTentative(n, in.reached)
				in.suffix = slices.DeleteFunc(in.suffix, func(r row) bool { return r.time >= in.reached })
			case 4:
				u.UndoTentative(n)
				in.suffix, in.reached = nil, in.boundary
			default:
				far = max(far, u.Forked()) + bucket*tuple.Time(rapid.IntRange(1, 3).Draw(t, "buckets"))
				if err := u.ReleaseTentative(far, none); err != nil {
					t.Fatal(err)
				}
			}
		}
		if to := u.Stable(); to > u.Released() && to <= u.Forked() && rapid.Bool().Draw(t, "the stable side moves") {
			if err := u.Release(to, none); err != nil {
				t.Fatal(err)
			}
		}
		to := u.Forked()
		var want []row
		for n := range m {
			for _, r := range slices.Concat(m[n].stable, m[n].suffix) {
				if r.time >= u.Released() && r.time < to {
					want = append(want, r)
				}
			}
		}
		count, ok := u.Replay()
		if !ok {
			return // a run that was given up has not come so far again
		}
		u.Rewind()
		var got []string
		if err := u.ReleaseTentative(to, func(b *tuple.Batch) error { got = append(got, render(b)...); return nil }); err != nil {
			t.Fatal(err)
		}
		if want := model(want); !slices.Equal(got, want) || count != len(got) {
			t.Fatalf("handed on %v, where %d rows were announced, want %v", got, count, want)
		}
	})
}

// TestRewindIsBounded shows that no more rows are kept than may be, and that a fork is not begun again without those that are gone.
func TestRewindIsBounded(t *testing.T) {
	u, err := New(Config{Schema: testSchema, Inputs: 1, Bucket: 10, ReplayRows: 30})
	if err != nil {
		t.Fatal(err)
	}
	u.Boundary(0, 0)
	if err := u.Release(0, nil); err != nil {
		t.Fatal(err)
	}
	u.Fork()
	for at := tuple.Time(0); at < 100; at += 10 {
		b := tuple.NewBatchBuilder(testSchema)
		for k := range tuple.Time(10) {
			appendRow(b, row{time: at + k, k: fmt.Sprint(k)})
		}
		u.InsertTentative(0, &tuple.Frame{Kind: tuple.Tentative, FirstID: uint64(at) + 1, LastID: uint64(at) + 10, Batch: b.Take()})
		if err := u.ReleaseTentative(at+10, func(*tuple.Batch) error { return nil }); err != nil {
			t.Fatal(err)
		}
		rows, ok := u.Replay()
		if u.inputs[0].suffix.given.rows > 30 || ok != (at <= 20) || ok && rows != int(at)+10 {
			t.Fatalf("%d rows at %d, to be had: %v", rows, at, ok)
		}
	}
	for at := tuple.Time(70); at <= 100; at += 15 { // stable rows have replaced all that are gone, and then others
		u.Boundary(0, at)
		if rows, ok := u.Replay(); !ok || rows != 100-int(at) {
			t.Fatalf("%d rows to be had where stable ones go up to %d, all there: %v", rows, at, ok)
		}
	}
}
