package dcaa

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fednode/query/tuple"
)

// heardRows is a taker that notes the stimes of rows and their ids.
type heardRows struct {
	heardGaps
	got []string
}

func (h *heardRows) Rows(f *tuple.Frame) error {
	for k := range f.Batch.Rows() {
		id := f.FirstID + uint64(k)
		if f.IDs != nil {
			id = f.IDs[k]
		}
		h.got = append(h.got, fmt.Sprintf("%d@%d", id, f.Batch.Time[f.Batch.Row(k)]))
	}
	return nil
}

// given makes an intake at a place that reads from one producer, and has it take frames.
func given(t *testing.T, from tuple.Position, whole bool, frames ...*tuple.Frame) (*Intake, *heardRows, error) {
	t.Helper()
	s := DefaultSettings()
	shell, taker := &opener{}, &heardRows{}
	i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a"}, From: from, Whole: whole}, 1, shell, taker)
	i.Reachable(1, 0, true)
	i.Opened(1, shell.asked[0].Conn)
	for _, f := range frames {
		if err := i.Frame(1, shell.asked[0].Conn, f); err != nil {
			return i, taker, err
		}
	}
	return i, taker, nil
}

// TestGivenAgain shows that rows which a later generation gives again, below a boundary that the consumer has passed, are not
// taken, also not by a consumer that comes back to a place among them; that one which makes something of the stream judges for
// itself; and that a row below a boundary of its own generation is refused.
func TestGivenAgain(t *testing.T) {
	second := func(first uint64, stimes ...tuple.Time) *tuple.Frame {
		b := tuple.NewBatchBuilder(bufferSchema)
		for _, at := range stimes {
			b.AppendInt(0, int64(at))
			b.EndRow(at)
		}
		return &tuple.Frame{Kind: tuple.Insertion, Generation: 2, FirstID: first, LastID: first + uint64(len(stimes)) - 1, Batch: b.Take()}
	}
	boundary := func(at tuple.Time) *tuple.Frame { return &tuple.Frame{Kind: tuple.Boundary, Generation: 2, Time: at} }
	frames := []*tuple.Frame{second(1, 50, 60), boundary(70), second(3, 99, 100, 80, 101), boundary(110), second(7, 110)}
	for _, c := range []struct {
		name string
		from tuple.Position
		in   []*tuple.Frame
		took string
	}{
		{"beyond the gap", tuple.Position{Generation: 2, Time: 100}, frames, "4@100 6@101 7@110"},
		{"among the rows", tuple.Position{Generation: 2, ID: 2, Time: 100}, frames, "4@100 6@101 7@110"},
		{"within a frame", tuple.Position{Generation: 2, ID: 4, Time: 100}, frames, "6@101 7@110"},
		{"after them", tuple.Position{Generation: 2, ID: 6, Time: 110}, frames, "7@110"},
	} {
		i, taker, err := given(t, c.from, false, c.in...)
		if got := strings.Join(taker.got, " "); err != nil || got != c.took || i.Position() != (tuple.Position{Generation: 2, ID: 7, Time: 110}) {
			t.Errorf("%s: took %s, %v; want %s; at %v", c.name, got, err, c.took, i.Position())
		}
	}

	followed := append([]*tuple.Frame{{Kind: tuple.Gap, Generation: 2, Time: 100, To: 40}}, frames...)
	i, taker, err := given(t, tuple.Position{Generation: 1, ID: 7, Time: 100}, false, followed[0])
	if _, lost := i.Lost(); err != nil || !lost {
		t.Fatalf("%v, lost %v: one producer that has gone over is all there is", err, lost)
	}
	i.Skip(1, "")
	now := i.Due(1) // when it is asked again
	i.Tick(now)
	conn := i.next.id
	i.Opened(now, conn)
	for _, f := range followed {
		if err := i.Frame(now, conn, f); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"4@100", "6@101", "7@110"}; !slices.Equal(taker.got, want) {
		t.Errorf("behind the gap: took %v, want %v", taker.got, want)
	}
	if _, taker, err := given(t, tuple.Position{Generation: 2, Time: 100}, true, frames[0]); err != nil || len(taker.got) != 2 {
		t.Errorf("an input of a replica took %v, %v", taker.got, err)
	}
	if _, _, err := given(t, tuple.Position{Generation: 1, ID: 7, Time: 100}, false, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 101}, insertion(8, 1, 100)); err == nil {
		t.Error("a row below a boundary of its generation was taken")
	}
}
