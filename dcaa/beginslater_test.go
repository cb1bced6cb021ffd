package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// TestBeginsLater shows that a consumer which depends on all of a stream is told when it begins in a later generation, be it by
// the first boundary or the first rows, once; others take it as the beginning.
func TestBeginsLater(t *testing.T) {
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)}))
	b.AppendInt(0, 1)
	b.EndRow(10)
	rows := &tuple.Frame{Kind: tuple.Insertion, Generation: 7, FirstID: 1, LastID: 1, Batch: b.Take()}
	boundary := &tuple.Frame{Kind: tuple.Boundary, Generation: 7, Time: 5}
	gap := &tuple.Frame{Kind: tuple.Gap, Generation: 7, Time: tuple.MinTime, To: tuple.MinTime}
	first := *rows
	first.Generation = 1
	for _, c := range []struct {
		name   string
		whole  bool
		frames []*tuple.Frame
		gaps   int
	}{
		{"rows", true, []*tuple.Frame{rows}, 1},
		{"a boundary, then rows", true, []*tuple.Frame{boundary, rows}, 1},
		{"a gap, then rows", true, []*tuple.Frame{gap, boundary, rows}, 1},
		{"the first generation", true, []*tuple.Frame{&first}, 0},
		{"who does not care", false, []*tuple.Frame{boundary, rows}, 0},
		{"who does not care hears of a gap before all", false, []*tuple.Frame{gap, rows}, 0},
	} {
		s := DefaultSettings()
		shell, taker := &opener{}, &heardGaps{}
		i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a"}, From: tuple.Position{Time: tuple.MinTime}, Whole: c.whole}, 1, shell, taker)
		i.Reachable(1, 0, true)
		i.Opened(1, shell.asked[0].Conn)
		for _, f := range c.frames {
			if err := i.Frame(1, shell.asked[0].Conn, f); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if got := i.Position(); taker.gaps != c.gaps || got.ID != 1 || got.Generation != c.frames[len(c.frames)-1].Generation {
			t.Errorf("%s: %d gaps, want %d; at %v", c.name, taker.gaps, c.gaps, got)
		}
	}
}
