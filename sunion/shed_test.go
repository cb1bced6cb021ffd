package sunion

import (
	"fmt"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"
)

// TestSuffixIsBounded shows that tentative rows that nobody takes, as while results are withheld, fill no more memory than
// they may: the newest are held, whatever else happens to the suffix.
func TestSuffixIsBounded(t *testing.T) {
	const most, each = 100, 10
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	u, err := New(Config{Schema: schema, Inputs: 1, Bucket: 10, SuffixRows: most})
	if err != nil {
		t.Fatal(err)
	}
	next := tuple.Time(0)
	insert := func(frames int) {
		for range frames {
			b := tuple.NewBatchBuilder(schema)
			for range each {
				b.AppendInt(0, int64(next))
				b.EndRow(next)
				next++
			}
			u.InsertTentative(0, &tuple.Frame{Kind: tuple.Tentative, FirstID: uint64(next), LastID: uint64(next) + each - 1, Batch: b.Take()})
		}
	}
	want := func(rows int) {
		t.Helper()
		if n := u.inputs[0].suffix.rows; n != rows {
			t.Fatalf("%d rows are held, want %d", n, rows)
		}
	}
	insert(8)
	want(80)
	insert(1000)
	want(most)
	u.TrimTentative(0, next-15)
	want(most - 15)
	u.Boundary(0, next-35)
	want(20)
	u.TentativeBoundary(0, next)
	taken := 0
	if err := u.ReleaseTentative(next.FloorTo(10, 0), func(b *tuple.Batch) error { taken += b.Rows(); return nil }); err != nil {
		t.Fatal(err)
	}
	if taken != 20 {
		t.Fatalf("%d rows went to the fork, want 20", taken)
	}
	want(0)
	insert(3)
	u.UndoTentative(0)
	want(0)
}

// TestTentativeIsBoundedInBytes shows that large rows count by what they are: those that no fork has had and those that are kept for
// the next fork hold no more memory together than they may, the ones for the next fork are the first to go, and a fork is not begun
// anew without them.
func TestTentativeIsBoundedInBytes(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprint("plain ", plain), func(t *testing.T) { boundedInBytes(t, plain) })
	}
}

func boundedInBytes(t *testing.T, plain bool) {
	const most, text = 100_000, 5000
	schema := tuple.MustSchema(tuple.Field{Name: "s", Type: tuple.Of(tuple.String)})
	u, err := New(Config{Schema: schema, Inputs: 1, Bucket: 10, ReplayRows: 1 << 16, SuffixBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	u.Boundary(0, 0)
	if err := u.Release(0, nil); err != nil {
		t.Fatal(err)
	}
	u.Fork()
	next := tuple.Time(0)
	b := tuple.NewBatchBuilder(schema)
	insert := func() {
		for k := range tuple.Time(2) {
			b.AppendBin(0, fmt.Appendf(nil, "%0*d", text, next+k))
			b.EndRow(next + 5*k)
		}
		batch := b.Take()
		if plain {
			batch.Cols[0] = tupletest.Plain(&batch.Cols[0])
		}
		u.InsertTentative(0, &tuple.Frame{Kind: tuple.Tentative, FirstID: uint64(next) + 1, LastID: uint64(next) + 2, Batch: batch})
		next += 10
	}
	for n := range 40 {
		insert()
		if err := u.ReleaseTentative(next, func(*tuple.Batch) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if held := u.Bytes(0); held > most || held < min(most/2, int64(n+1)*2*text) {
			t.Fatalf("%d bytes are held after %d rows", held, 2*n+2)
		}
		weighed(t, u)
	}
	if _, ok := u.Replay(); ok {
		t.Error("a fork may begin anew without rows that are gone")
	}
	given := u.inputs[0].suffix.given.bytes
	for range 40 { // nobody takes them
		insert()
		weighed(t, u)
	}
	if s := &u.inputs[0].suffix; s.given.bytes >= given || s.bytes < most/2 || u.Bytes(0) > most {
		t.Errorf("%d bytes are held of rows that nobody has had, %d of others", s.bytes, s.given.bytes)
	}
	u.UndoTentative(0)
	if n := u.Bytes(0); n != 0 {
		t.Errorf("%d bytes are held when all is undone", n)
	}
}

// weighed checks that what inputs are said to hold is what their chunks do.
func weighed(t interface {
	Helper()
	Fatalf(string, ...any)
}, u *SUnion) {
	t.Helper()
	sum := func(list []*chunk) (n int64) {
		for _, c := range list {
			n += c.size
		}
		return n
	}
	for n := range u.inputs {
		i := &u.inputs[n]
		if i.bytes != sum(i.chunks) || i.suffix.bytes != sum(i.suffix.chunks) || i.suffix.given.bytes != sum(i.suffix.given.chunks) {
			t.Fatalf("input %d: %d, %d and %d bytes, the chunks have %d, %d and %d", n, i.bytes, i.suffix.bytes, i.suffix.given.bytes, sum(i.chunks), sum(i.suffix.chunks), sum(i.suffix.given.chunks))
		}
	}
}
