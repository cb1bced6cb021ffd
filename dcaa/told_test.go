package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// lone is a shell that remembers what was asked for, and a taker that remembers the boundary.
type lone struct {
	opened []Opening
	closed map[uint64]bool
	at     tuple.Time
}

func (s *lone) Open(o Opening)                    { s.opened = append(s.opened, o) }
func (s *lone) Close(conn uint64)                 { s.closed[conn] = true }
func (s *lone) Rows(*tuple.Frame) error           { return nil }
func (s *lone) Boundary(t tuple.Time, _ Age)      { s.at = t }
func (s *lone) Gap(*tuple.Frame)                  {}
func (s *lone) TentativeRows(*tuple.Frame)        {}
func (s *lone) TentativeBoundary(tuple.Time, Age) {}
func (s *lone) Trim(tuple.Time)                   {}
func (s *lone) Undo(tuple.Run)                    {}
func (s *lone) Done(tuple.Run)                    {}

// TestTellsAndGivesNothing shows that a producer whose heartbeats tell of more than another one has, and which gives a first
// boundary over each connection and then nothing, does not keep the consumer from what the other one gives.
func TestTellsAndGivesNothing(t *testing.T) {
	const until, step = Instant(60 * second), Instant(50_000)
	for _, lie := range []func(at tuple.Time) tuple.Time{
		func(tuple.Time) tuple.Time { return tuple.MaxTime },
		func(at tuple.Time) tuple.Time { return at + 1_000_000 },
	} {
		s := DefaultSettings()
		x := &lone{closed: make(map[uint64]bool)}
		i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"honest", "liar"}, From: tuple.Position{Time: tuple.MinTime}, Tentative: true}, 0, x, x)
		i.Reachable(0, 0, true)
		i.Reachable(0, 1, true)
		gave := make(map[uint64]bool)
		asked, failed := 0, 0
		for now := Instant(0); now < until; now += step {
			at := tuple.Time(now) + 1
			i.Heard(now, 0, StreamStatus{State: Stable, Boundary: at, Generation: 1})
			i.Heard(now, 1, StreamStatus{State: Stable, Boundary: lie(at), Generation: 1})
			for ; asked < len(x.opened); asked++ {
				i.Opened(now, x.opened[asked].Conn)
			}
			for _, o := range x.opened {
				if x.closed[o.Conn] || o.Producer == 1 && gave[o.Conn] {
					continue
				}
				gave[o.Conn] = true
				if err := i.Frame(now, o.Conn, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at}); err != nil {
					t.Fatal(err)
				}
			}
			i.Tick(now)
			if now > 5*Instant(second) && i.Condition(now) == Failed {
				failed++
			}
		}
		if x.at < tuple.Time(until-5*Instant(second)) || i.Source() != 0 || failed > 0 {
			t.Errorf("after %d s the consumer has come to %v, reads from %d, and held the input for failed %d times", int64(until)/second, x.at, i.Source(), failed)
		}
		if len(x.opened) > 10 {
			t.Errorf("%d connections were opened", len(x.opened))
		}
	}
}
