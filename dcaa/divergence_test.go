package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// auditor is a shell that remembers what differs.
type auditor struct {
	asked
	found []Divergence
}

func (a *auditor) Diverged(d Divergence) { a.found = append(a.found, d) }

// audited returns an intake of two replicas that reads from the first.
func audited(t *testing.T) (*Intake, *auditor) {
	t.Helper()
	settings, shell := DefaultSettings(), &auditor{}
	i := NewIntake(IntakeConfig{Settings: &settings, Producers: []string{"a/1", "a/2"}, From: tuple.Position{Time: tuple.MinTime}}, 0, shell, deaf{})
	i.Reachable(0, 0, true)
	i.Reachable(0, 1, true)
	i.Heard(0, 0, StreamStatus{State: Stable, Boundary: 0, Generation: 1})
	i.Heard(0, 1, StreamStatus{State: Stable, Boundary: 0, Generation: 1})
	if i.next == nil || i.next.producer != 0 {
		t.Fatalf("asked %v", shell.open)
	}
	i.Opened(0, i.next.id)
	return i, shell
}

// give lets the replica that is read from give a row and a boundary with a checksum.
func give(t *testing.T, i *Intake, now Instant, id, sum uint64) {
	t.Helper()
	c := i.data
	if c == nil {
		c = i.next
	}
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}))
	b.AppendInt(0, int64(id))
	b.EndRow(tuple.Time(id) * 100_000)
	for _, f := range []*tuple.Frame{
		{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id, Batch: b.Take()},
		{Kind: tuple.Boundary, Time: tuple.Time(id+1) * 100_000, Sum: sum},
	} {
		if err := i.Frame(now, c.id, f); err != nil {
			t.Fatal(err)
		}
	}
}

// Two replicas that give different rows are told apart, whoever tells first; the consumer stays with the one it has rows
// from, and takes nothing from the other, be it the only one left, until they agree.
func TestDiverged(t *testing.T) {
	told := func(id, sum uint64) StreamStatus {
		return StreamStatus{State: Stable, Boundary: tuple.Time(id+1) * 100_000, Generation: 1, LastID: id, Sum: sum}
	}
	for name, first := range map[string]bool{"rows first": false, "word of the other first": true} {
		t.Run(name, func(t *testing.T) {
			i, shell := audited(t)
			now := Instant(100_000)
			i.Heard(now, 1, told(1, 77))
			give(t, i, now, 1, 77)
			if len(shell.found) != 0 || i.Diverged() != nil {
				t.Fatalf("the same checksum differs: %v", shell.found)
			}
			now += 100_000
			if first {
				i.Heard(now, 1, told(2, 99))
			}
			give(t, i, now, 2, 88)
			if !first {
				i.Heard(now, 1, told(2, 99))
			}
			i.Heard(now, 1, told(2, 99)) // it is told once
			if len(shell.found) != 1 {
				t.Fatalf("found %v", shell.found)
			}
			if d := shell.found[0]; d.Producer != "a/2" || d.Other != "a/1" || d.Boundary != 300_000 || d.Sum != 99 || d.OtherSum != 88 {
				t.Fatalf("found %+v", d)
			}
			asked := len(shell.open)
			i.Reachable(now, 0, false)
			for end := now + 60_000_000; now < end; now += 100_000 {
				i.Heard(now, 1, told(2, 99))
				i.Tick(now)
			}
			if len(shell.open) != asked {
				t.Fatalf("asked %v", shell.open[asked:])
			}
			if c := i.Condition(now); c != Failed {
				t.Fatalf("an input of which only a diverged replica is left is %v", c)
			}
			i.Heard(now, 1, told(1, 77)) // it has begun anew, from a state that is right
			if i.Diverged() != nil {
				t.Fatalf("%v differ still", i.Diverged())
			}
			if len(shell.open) != asked+1 || shell.open[asked].Producer != 1 {
				t.Fatalf("asked %v", shell.open)
			}
		})
	}
}

// A replica that has diverged is read from once it has been accepted; who differs from it then is DIVERGED in turn.
func TestAccepted(t *testing.T) {
	i, shell := audited(t)
	now := Instant(100_000)
	give(t, i, now, 1, 77)
	other := StreamStatus{State: Stable, Boundary: 300_000, Generation: 1, LastID: 2, Sum: 99}
	give(t, i, now, 2, 88)
	i.Heard(now, 1, other)
	i.Reachable(now, 0, false)
	if i.Accept(now, "a/1") || i.Accept(now, "a/3") {
		t.Fatal("there was nothing to accept")
	}
	asked := len(shell.open)
	if !i.Accept(now, "a/2") || i.Diverged() != nil {
		t.Fatalf("%v differ still", i.Diverged())
	}
	if len(shell.open) != asked+1 || shell.open[asked].Producer != 1 {
		t.Fatalf("asked %v", shell.open[asked:])
	}
	i.Opened(now, i.next.id)
	now += 100_000
	give(t, i, now, 3, 100)
	i.Reachable(now, 0, true)
	i.Heard(now, 0, StreamStatus{State: Stable, Boundary: 400_000, Generation: 1, LastID: 3, Sum: 55})
	if got := i.Diverged(); len(got) != 1 || got[0] != "a/1" {
		t.Fatalf("%v differ", got)
	}
}

// Whoever carries no checksums is not compared, and nothing is remembered of it.
func TestNotCompared(t *testing.T) {
	i, shell := audited(t)
	for n := range uint64(1000) {
		give(t, i, Instant(n)*100_000, n+1, 0)
	}
	if len(i.list) != 0 || len(shell.found) != 0 {
		t.Fatalf("%d checksums are remembered, %v found", len(i.list), shell.found)
	}
}

// What is remembered is bounded.
func TestChecksAreFew(t *testing.T) {
	i, shell := audited(t)
	for n := range uint64(3 * checkPoints) {
		give(t, i, Instant(n)*100_000, n+1, n+5)
		i.Heard(Instant(n)*100_000, 1, StreamStatus{State: Stable, Boundary: tuple.Time(n+2) * 100_000, Generation: 1, LastID: n + 1, Sum: n + 5})
	}
	if len(i.list) != checkPoints || len(shell.found) != 0 {
		t.Fatalf("%d checksums are remembered, %v found", len(i.list), shell.found)
	}
}
