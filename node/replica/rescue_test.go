package replica

import (
	"testing"

	"fednode/query/tuple"
)

// asking is a stage whose replica may ask its peers for their states. Of what it gives the gaps are counted.
type asking struct {
	*stage
	gaps int
}

func (*asking) Transfer(int) {}

func (a *asking) Emit(_ int, f *tuple.Frame) {
	if f.Kind == tuple.Gap {
		a.gaps++
	}
}

// TestAbandonAfter shows that rows which a replica that is away may cover are waited for as long as is said, each time anew, and
// that two inputs which lack rows at once are waited for at once.
func TestAbandonAfter(t *testing.T) {
	const wait = 10_000 * ms
	s := newStage(t, joinQuery, func(c *Config) { c.Peers, c.Settings.AbandonAfter = []string{"north/n2"}, wait })
	shell := &asking{stage: s}
	s.r.shell = shell
	lose := func(inputs ...int) {
		t.Helper()
		for _, n := range inputs {
			s.cut(n, true)
		}
		s.run(500 * ms)
		for _, n := range inputs {
			src := s.sources[n]
			src.down = false
			s.r.Reachable(s.now, n, 0, true)
			s.r.Truncated(s.now, n, src.conn, tuple.Position{Generation: 1, ID: src.last, Time: tuple.Time(int64(s.now) - 1_000_000*ms)})
			if _, lost := s.r.inputs[n].intake.Lost(); !lost {
				t.Fatal("nothing is lacking")
			}
		}
	}
	s.run(1000 * ms)
	lose(0)
	s.run(wait / 2)
	s.cut(0, true) // and there it is, with all its rows
	s.cut(0, false)
	s.run(2 * wait)
	if stranded(s.r) || shell.gaps != 0 {
		t.Fatalf("stranded %v, %d gaps: the producer holds everything", stranded(s.r), shell.gaps)
	}
	lose(0, 1)
	s.run(wait - 100*ms)
	if !stranded(s.r) || shell.gaps != 0 {
		t.Fatalf("stranded %v, %d gaps: rows were given up too soon", stranded(s.r), shell.gaps)
	}
	s.run(200 * ms)
	if stranded(s.r) || shell.gaps == 0 {
		t.Fatalf("stranded %v, %d gaps: rows are waited for too long", stranded(s.r), shell.gaps)
	}
}
