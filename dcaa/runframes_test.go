package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// TestReplacedBehindEnds shows that what a stable boundary has passed of the open run is dropped also when ends of runs
// before are still kept, which a reader that comes by is given all the same.
func TestReplacedBehindEnds(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
	give := func(run uint64, kind tuple.FrameKind, at tuple.Time) {
		f := &tuple.Frame{Kind: kind, Run: tuple.Run{Producer: "a", N: run}, Time: at}
		if kind == tuple.Tentative {
			f.Batch, f.FirstID, f.LastID = insertion(1, 10, at).Batch, 1, 10
		}
		b.AppendTentative(f, 1<<20)
	}
	give(1, tuple.Tentative, 10)
	give(1, tuple.RecDone, 0)
	give(2, tuple.Tentative, 20)
	give(2, tuple.Undo, 0)
	ends := b.RunBytes()
	give(3, tuple.Tentative, 30)
	one := b.RunBytes() - ends
	give(3, tuple.Tentative, 40)
	stable := insertion(1, 10, 30)
	b.Append(stable)
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 35})
	if got, want := b.RunBytes(), ends+one; got != want {
		t.Fatalf("%d bytes of runs are held, want %d: the ends and what lies beyond the boundary", got, want)
	}
	var kinds []tuple.FrameKind
	for seq := uint64(0); ; {
		f, at, ok := b.RunFrame(seq, b.next)
		if !ok {
			break
		}
		kinds, seq = append(kinds, f.Kind), at+1
	}
	if len(kinds) != 3 || kinds[0] != tuple.RecDone || kinds[1] != tuple.Undo || kinds[2] != tuple.Tentative {
		t.Fatalf("a reader is given %v", kinds)
	}
	if f, _, _ := b.RunFrame(b.SeekRun(tuple.MinTime), b.next); f == nil || latest(f.Batch) != 40 {
		t.Fatalf("who comes now is given %v, want what lies beyond the boundary", f)
	}
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 50})
	if got := b.RunBytes(); got != ends {
		t.Fatalf("%d bytes of runs are held, want the ends alone, %d", got, ends)
	}
}

// TestKeptRun shows that the frames of a run which a GAP has left without stable rows are still given when the run is over and
// its boundary has passed, and that they do not stay in memory for ever.
func TestKeptRun(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Time: tuple.MinTime})
	b.AppendTentative(&tuple.Frame{Kind: tuple.TentativeBoundary, Time: 50}, 1<<20)
	b.Append(&tuple.Frame{Kind: tuple.Gap, Generation: 2, Time: 10, To: 60})
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 2, Time: 60})
	b.AppendTentative(&tuple.Frame{Kind: tuple.RecDone}, 1<<20)
	f, _, ok := b.RunFrame(b.SeekRun(10), b.next)
	if !ok || f.Kind != tuple.TentativeBoundary {
		t.Fatalf("%v, %v; want what the GAP has left", f, ok)
	}
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 2, Time: 60 + keptFor})
	if n := len(b.run.list); n != 1 || b.run.list[0].frame.Kind != tuple.RecDone {
		t.Fatalf("%d frames are left, want the end of the run alone", n)
	}
}
