package sunion

import (
	"errors"
	"testing"

	"fednode/query/tuple"
)

func oneRow(at tuple.Time, id uint64) *tuple.Frame {
	b := tuple.NewBatchBuilder(testSchema)
	b.AppendBin(0, []byte("a"))
	b.AppendInt(1, 1)
	b.EndList(2)
	b.EndRow(at)
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id, Batch: b.Take()}
}

// TestBrokenBoundary shows that a row below its stream's boundary is refused: lateness is decided at the source.
func TestBrokenBoundary(t *testing.T) {
	u, err := New(Config{Schema: testSchema, Inputs: 1, Bucket: 10})
	if err != nil {
		t.Fatal(err)
	}
	u.Boundary(0, 50)
	if err := u.Insert(0, oneRow(49, 1)); !errors.Is(err, ErrBelowBoundary) {
		t.Fatalf("got %v, want ErrBelowBoundary", err)
	}
	if err := u.Insert(0, oneRow(50, 2)); err != nil {
		t.Fatalf("a row at the boundary is not below it: %v", err)
	}
	u.Boundary(0, 20) // lower: says nothing new
	if got := u.InputBoundary(0); got != 50 {
		t.Fatalf("boundary %v, want 50", got)
	}
}

// TestStable shows that a bucket is complete only when every input's boundary reaches its end, negative times included.
func TestStable(t *testing.T) {
	u, err := New(Config{Schema: testSchema, Inputs: 2, Bucket: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		in   int
		t    tuple.Time
		want tuple.Time
	}{
		{0, 250, tuple.MinTime}, {1, -1, -100}, {1, 99, 0}, {1, 100, 100}, {1, 300, 200}, {0, tuple.MaxTime, 300}, {1, tuple.MaxTime, tuple.MaxTime},
	} {
		u.Boundary(step.in, step.t)
		if got := u.Stable(); got != step.want {
			t.Fatalf("after input %d reached %v: stable %v, want %v", step.in, step.t, got, step.want)
		}
	}
}

// TestSOutput shows that ids go on across restore and that a boundary that says nothing new is not sent.
func TestSOutput(t *testing.T) {
	o := NewSOutput(3)
	f := o.Batch(oneRow(1, 1).Batch)
	if f.FirstID != 1 || f.LastID != 1 || f.Generation != 3 {
		t.Fatalf("first frame %v", f)
	}
	if o.Batch(&tuple.Batch{Schema: testSchema, Cols: make([]tuple.Column, 3)}) != nil {
		t.Fatal("an empty batch made a frame")
	}
	if o.Boundary(10, 0) == nil || o.Boundary(10, 0) != nil || o.Boundary(9, 0) != nil {
		t.Fatal("a boundary is sent once, and only when it rises")
	}
	r := RestoreSOutput(o.State())
	if f := r.Batch(oneRow(11, 1).Batch); f.FirstID != 2 {
		t.Fatalf("after restore the next id is %d, want 2", f.FirstID)
	}
	if r.Boundary(10, 0) != nil {
		t.Fatal("a restored output sent an old boundary again")
	}
}
