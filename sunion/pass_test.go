package sunion

import (
	"slices"
	"testing"

	"fednode/query/tuple"
)

// passing is an SUnion of one input under test.
type passing struct {
	t *testing.T
	u *SUnion
}

var passingSchema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

func newPassing(t *testing.T) passing {
	u, err := New(Config{Schema: passingSchema, Inputs: 1, Bucket: 10})
	if err != nil {
		t.Fatal(err)
	}
	return passing{t, u}
}

// rows makes a frame of rows whose values are their stimes.
func rows(kind tuple.FrameKind, first uint64, at ...tuple.Time) *tuple.Frame {
	b := tuple.NewBatchBuilder(passingSchema)
	for _, t := range at {
		b.AppendInt(0, int64(t))
		b.EndRow(t)
	}
	return &tuple.Frame{Kind: kind, Generation: 1, FirstID: first, LastID: first + uint64(len(at)) - 1, Batch: b.Take()}
}

// gives checks what a release hands on.
func (p passing) gives(release func(tuple.Time, func(*tuple.Batch) error) error, to tuple.Time, want ...tuple.Time) {
	p.t.Helper()
	var got []tuple.Time
	err := release(to, func(b *tuple.Batch) error {
		for k := range b.Rows() {
			got = append(got, b.Time[b.Row(k)])
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		p.t.Fatalf("to %d: %v, %v; want %v", to, got, err, want)
	}
}

// TestPass shows that rows which are passed over are not handed on, be they there already or still to come, and that the place to
// resume at lies behind them.
func TestPass(t *testing.T) {
	p := newPassing(t)
	if err := p.u.Insert(0, rows(tuple.Insertion, 1, 3, 14, 25, 31)); err != nil {
		t.Fatal(err)
	}
	p.u.Boundary(0, 20)
	p.u.Pass(30)
	if n := p.u.Waiting(0); n != 1 {
		t.Fatalf("%d rows wait", n)
	}
	if at, want := p.u.Position(0), (tuple.Position{Generation: 1, ID: 3, Time: 30}); at.Compare(want) != 0 || at.Time != want.Time {
		t.Fatalf("resumes at %v, want %v", at, want)
	}
	if err := p.u.Insert(0, rows(tuple.Insertion, 5, 26, 33)); err != nil {
		t.Fatal(err)
	}
	p.u.Pass(20) // behind what has been passed over
	p.u.Boundary(0, 40)
	p.gives(p.u.Release, 40, 31, 33)
}

// TestKeep shows that the tentative rows of a stretch that is lost stay for the fork when the stable part goes on behind it, or the
// suffix is over, and no longer than until it has had them.
func TestKeep(t *testing.T) {
	for _, done := range []bool{false, true} {
		p := newPassing(t)
		p.u.Boundary(0, 10)
		p.u.Fork()
		p.u.InsertTentative(0, rows(tuple.Tentative, 1, 11, 24, 35, 46))
		p.u.Gap(0, 2, 0)
		p.u.Keep(0, 10, 40)
		p.u.Boundary(0, 40)
		if done {
			p.u.DoneTentative(0)
		}
		if err := p.u.Insert(0, &tuple.Frame{Kind: tuple.Insertion, Generation: 2, FirstID: 1, LastID: 1, Batch: rows(tuple.Insertion, 1, 41).Batch}); err != nil {
			t.Fatal(err)
		}
		p.u.Boundary(0, 50)
		p.gives(p.u.ReleaseTentative, 30, 11, 24)
		p.gives(p.u.ReleaseTentative, 50, 35, 41)
		p.u.InsertTentative(0, rows(tuple.Tentative, 9, 44, 55))
		p.u.Boundary(0, 60)
		p.gives(p.u.ReleaseTentative, 60)
	}
}

// TestUndoKept shows that what is void is not kept.
func TestUndoKept(t *testing.T) {
	p := newPassing(t)
	p.u.Boundary(0, 10)
	p.u.Fork()
	p.u.InsertTentative(0, rows(tuple.Tentative, 1, 11))
	p.u.Keep(0, 10, 40)
	p.u.UndoTentative(0)
	p.u.Boundary(0, 40)
	p.gives(p.u.ReleaseTentative, 40)
}

// TestRename shows that an input goes on in another generation behind its boundary: what it has before that stays and is not taken
// again, and the rest is taken anew.
func TestRename(t *testing.T) {
	p := newPassing(t)
	if err := p.u.Insert(0, rows(tuple.Insertion, 1, 3, 14, 25, 37)); err != nil {
		t.Fatal(err)
	}
	p.u.Boundary(0, 29)
	p.u.Rename(0, 2, 0)
	again := rows(tuple.Insertion, 1, 25, 37, 45)
	again.Generation = 2
	if err := p.u.Insert(0, again); err != nil {
		t.Fatal(err)
	}
	p.u.Boundary(0, 50)
	p.gives(p.u.Release, 50, 3, 14, 25, 37, 45)
}
