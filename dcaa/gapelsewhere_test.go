package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// opener notes what an intake asks for.
type opener struct{ asked []Opening }

func (o *opener) Open(p Opening) { o.asked = append(o.asked, p) }
func (o *opener) Close(uint64)   {}

// heardGaps is a taker that counts gaps.
type heardGaps struct {
	Taker
	gaps int
}

func (h *heardGaps) Rows(*tuple.Frame) error  { return nil }
func (h *heardGaps) Boundary(tuple.Time, Age) {}
func (h *heardGaps) Gap(*tuple.Frame)         { h.gaps++ }

// TestGapElsewhere shows that rows which one replica has lost are asked of another before they are given up, and that a gap
// which every replica tells of is taken.
func TestGapElsewhere(t *testing.T) {
	s := DefaultSettings()
	shell, taker := &opener{}, &heardGaps{}
	now := Instant(1)
	i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b"}, From: tuple.Position{Generation: 1, ID: 7, Time: 100}}, now, shell, taker)
	for n := range 2 {
		i.Reachable(now, n, true)
		i.Heard(now, n, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 9})
	}
	from := func(want int) uint64 {
		t.Helper()
		last := shell.asked[len(shell.asked)-1]
		if last.Producer != want {
			t.Fatalf("asked %d, want %d", last.Producer, want)
		}
		i.Opened(now, last.Conn)
		return last.Conn
	}
	gap := &tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: 12, Time: 100, To: 200}
	if err := i.Frame(now, from(0), gap); err != nil || taker.gaps != 0 {
		t.Fatalf("%v, %d gaps: the first replica was believed", err, taker.gaps)
	}
	second := from(1)
	if at := shell.asked[len(shell.asked)-1].From; at.ID != 7 {
		t.Fatalf("asked from %v, want what is missing", at)
	}
	told := &tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: 7, Time: 100, To: 150} // at its place: all tell of it
	if err := i.Frame(now, second, told); err != nil || taker.gaps != 1 {
		t.Fatalf("%v, %d gaps: a gap that passes over nothing was not taken", err, taker.gaps)
	}
	if err := i.Frame(now, second, gap); err != nil || taker.gaps != 1 {
		t.Fatalf("%v, %d gaps: the gap was taken although a state might cover it", err, taker.gaps)
	}
	if at := i.AbandonAt(); at != now {
		t.Fatalf("rows that nobody holds may be given up at %d, want now", at)
	}
	i.Skip(now, "")
	if taker.gaps != 2 || i.Position().ID != 12 || i.AbandonAt() != Never {
		t.Fatalf("%d gaps, at %v: nobody else holds the rows", taker.gaps, i.Position())
	}
}
