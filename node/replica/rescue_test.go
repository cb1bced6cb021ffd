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

// TestAbandonAmongThoseWhoComeAndGo shows that a producer and a replica which come and go, and lack the rows each time, do not put
// off what a replica that stays away is waited for; that one which has just gone is waited for anew.
func TestAbandonAmongThoseWhoComeAndGo(t *testing.T) {
	const wait = 10_000 * ms
	for _, stays := range []bool{true, false} {
		s := newStage(t, joinQuery, func(c *Config) {
			c.Peers, c.Settings.AbandonAfter = []string{"north/n2", "north/n3"}, wait
		})
		shell := &asking{stage: s}
		s.r.shell = shell
		src := s.sources[0]
		flap := func() {
			s.cut(0, true)
			s.r.PeerReachable(s.now, 1, false)
			s.run(100 * ms)
			s.r.PeerReachable(s.now, 1, true)
			src.down = false
			s.r.Reachable(s.now, 0, 0, true)
			s.r.Truncated(s.now, 0, src.conn, tuple.Position{Generation: 1, ID: src.last, Time: tuple.Time(int64(s.now) - 1_000_000*ms)})
			s.r.Declined(s.now, 1)
			s.run(900 * ms)
		}
		s.run(1000 * ms)
		for range wait/1000/ms - 1 {
			flap()
		}
		if !stays {
			s.r.PeerReachable(s.now, 1, false)
			s.run(wait - 100*ms)
		}
		if shell.gaps != 0 {
			t.Fatalf("stays %v: rows were given up too soon", stays)
		}
		if stays {
			flap()
			flap()
		}
		s.run(200 * ms)
		if shell.gaps == 0 {
			t.Fatalf("stays %v: rows are waited for too long", stays)
		}
	}
}

// TestAbandonAmongPeersInTurn shows that two replicas one of which is always away, and which have no state to give, do not put off
// without end that rows are given up; that they do so for a while.
func TestAbandonAmongPeersInTurn(t *testing.T) {
	const wait = 10_000 * ms
	s := newStage(t, joinQuery, func(c *Config) {
		c.Peers, c.Settings.AbandonAfter = []string{"north/n2", "north/n3"}, wait
	})
	shell := &asking{stage: s}
	s.r.shell = shell
	s.run(1000 * ms)
	src := s.sources[0]
	s.cut(0, true)
	s.run(100 * ms)
	src.down = false
	s.r.Reachable(s.now, 0, 0, true)
	s.r.Truncated(s.now, 0, src.conn, tuple.Position{Generation: 1, ID: src.last, Time: tuple.Time(int64(s.now) - 1_000_000*ms)})
	began := s.now
	for here := 0; shell.gaps == 0; here = 1 - here {
		s.r.PeerReachable(s.now, here, true)
		s.r.PeerReachable(s.now, 1-here, false)
		s.run(200 * ms)
		s.r.Declined(s.now, here)
		if s.run(800 * ms); s.now > began.Add(3*wait) {
			t.Fatal("rows are waited for without end")
		}
	}
	if s.now < began.Add(wait) {
		t.Fatalf("rows were given up after %d ms", (s.now-began)/ms)
	}
}
