package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// asked counts what an intake asks of its producers.
type asked struct{ open []Opening }

func (a *asked) Open(o Opening) { a.open = append(a.open, o) }
func (a *asked) Close(uint64)   {}

// deaf takes everything and remembers nothing.
type deaf struct{}

func (deaf) Rows(*tuple.Frame) error           { return nil }
func (deaf) Boundary(tuple.Time, Age)          {}
func (deaf) Gap(*tuple.Frame)                  {}
func (deaf) TentativeRows(*tuple.Frame)        {}
func (deaf) TentativeBoundary(tuple.Time, Age) {}
func (deaf) Trim(tuple.Time)                   {}
func (deaf) Undo(tuple.Run)                    {}
func (deaf) Done(tuple.Run)                    {}

// TestGrantedButNotGiven shows that a producer which grants a stream and gives nothing new of it is asked more and more
// rarely, whatever the reason: a cut, a jump in the ids, a place that is gone again and again; and at once again after it
// has given something.
func TestGrantedButNotGiven(t *testing.T) {
	jump := &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: 5, LastID: 5}
	for name, answer := range map[string]func(i *Intake, now Instant, id uint64){
		"cut": func(i *Intake, now Instant, id uint64) {
			i.Opened(now, id)
			i.Closed(now, id)
		},
		"jump": func(i *Intake, now Instant, id uint64) {
			i.Opened(now, id)
			if err := i.Frame(now, id, jump); err == nil {
				t.Error("a jump in the ids is no error")
			}
		},
		"gone": func(i *Intake, now Instant, id uint64) {
			i.Truncated(now, id, tuple.Position{})
			i.Skip(now, "gone")
		},
	} {
		t.Run(name, func(t *testing.T) {
			settings, shell := DefaultSettings(), &asked{}
			i := NewIntake(IntakeConfig{Settings: &settings, Producers: []string{"a/n"}, From: tuple.Position{Time: tuple.MinTime}}, 0, shell, deaf{})
			i.Reachable(0, 0, true)
			now, answered := Instant(0), 0
			for now < Instant(60*second) {
				for ; answered < len(shell.open); answered++ {
					answer(i, now, shell.open[answered].Conn)
				}
				now = min(i.Due(now), now.Add(100_000))
				i.Tick(now)
			}
			if n := len(shell.open); n < 20 || n > 45 {
				t.Fatalf("asked %d times within a minute", n)
			}
		})
	}
	settings, shell := DefaultSettings(), &asked{}
	i := NewIntake(IntakeConfig{Settings: &settings, Producers: []string{"a/n"}, From: tuple.Position{Time: tuple.MinTime}}, 0, shell, deaf{})
	i.Reachable(0, 0, true)
	i.Opened(0, 1)
	if err := i.Frame(0, 1, &tuple.Frame{Kind: tuple.Boundary, Time: 5}); err != nil {
		t.Fatal(err)
	}
	if i.Closed(1, 1); len(shell.open) != 2 {
		t.Fatalf("asked %d times, want once more at once", len(shell.open))
	}
}

// TestTentativeUnasked shows that tentative results that were not asked for are not taken.
func TestTentativeUnasked(t *testing.T) {
	settings, shell := DefaultSettings(), &asked{}
	i := NewIntake(IntakeConfig{Settings: &settings, Producers: []string{"a/n"}, From: tuple.Position{Time: tuple.MinTime}}, 0, shell, deaf{})
	i.Reachable(0, 0, true)
	i.Opened(0, 1)
	if err := i.Frame(0, 1, &tuple.Frame{Kind: tuple.TentativeBoundary, Run: tuple.Run{N: 1}, Time: 5}); err != nil {
		t.Fatal(err)
	}
	if _, _, _, held := i.Suffix(); held {
		t.Fatal("a suffix that nobody asked for is held")
	}
}

// TestTwoThatComeAndGo shows that of two producers one of which is always away, and which both lack what comes next, neither puts off
// without end that it is given up; also not for best effort, which waits until one comes in the generation that it is in.
func TestTwoThatComeAndGo(t *testing.T) {
	for _, consistency := range []Consistency{Eventual, BestEffort} {
		s, shell := DefaultSettings(), &asked{}
		s.Consistency, s.AbandonAfter = consistency, 10*second
		from := tuple.Position{Generation: 2, ID: 7, Time: 100}
		i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a/n", "b/n"}, From: from, Tentative: true, Whole: true}, 0, shell, deaf{})
		now, answered, lost := Instant(0), 0, Never
		for here := 0; i.Position() == from; here = 1 - here {
			i.Reachable(now, here, true)
			i.Reachable(now, 1-here, false)
			for end := now.Add(second); now < end; now = now.Add(100_000) {
				i.Heard(now, here, StreamStatus{State: Stable, Boundary: tuple.Time(100 + now), Generation: 1})
				i.Tick(now)
				for ; answered < len(shell.open); answered++ {
					i.Truncated(now, shell.open[answered].Conn, tuple.Position{Generation: 1, ID: 3})
				}
				if _, gone := i.Lost(); gone {
					lost = min(lost, now)
				}
				if now >= i.AbandonAt() {
					i.Skip(now, "gone")
				}
			}
			if now > lost.Add(3*s.AbandonAfter) {
				t.Fatalf("consistency %d: waits since %d µs, and will until %d", consistency, now-lost, i.AbandonAt())
			}
		}
		if consistency == Eventual && now < lost.Add(s.AbandonAfter) {
			t.Fatalf("given up after %d µs: one may have them", now-lost)
		}
	}
}
