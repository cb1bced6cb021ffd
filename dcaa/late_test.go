package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// TestStaysWithOneInTime shows that who gets tentative results in time from a replica that makes corrections does not leave it for
// one that holds a bucket beyond the bound, be it asked already; but does once that one holds none for so long, or the first gives
// nothing any more.
func TestStaysWithOneInTime(t *testing.T) {
	s := DefaultSettings()
	shell := &opener{}
	now := Instant(1)
	i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b"}, From: tuple.Position{Generation: 1, ID: 7, Time: 100}, Tentative: true},
		now, shell, &heardAll{})
	says := func(producer int, state State, holding int64) {
		i.Heard(now, producer, StreamStatus{State: state, Boundary: 100, Generation: 1, LastID: 7, Holding: holding})
	}
	at := tuple.Time(100)
	gives := func() {
		now, at = now.Add(100_000), at.Add(100_000)
		f := &tuple.Frame{Kind: tuple.TentativeBoundary, Run: tuple.Run{Producer: "a", N: 1}, Time: at, Age: second}
		if err := i.Frame(now, i.data.id, f); err != nil {
			t.Fatal(err)
		}
		i.Tick(now)
	}
	i.Reachable(now, 0, true)
	says(0, Stabilization, second)
	i.Opened(now, i.next.id)
	gives()
	i.Reachable(now, 1, true)
	says(1, Stable, 0)
	if i.next == nil || i.next.producer != 1 {
		t.Fatal("one that says STABLE has to be asked")
	}
	for range 3 {
		says(1, UpstreamFailure, s.MaxDelay+second)
		if gives(); i.next != nil {
			t.Fatal("it is left for one that is behind")
		}
	}
	says(1, UpstreamFailure, second)
	if i.next == nil {
		t.Fatal("one that serves has to be asked")
	}
	says(1, UpstreamFailure, s.MaxDelay+second)
	if i.next != nil {
		t.Fatal("it has fallen behind again")
	}
	now = now.Add(2 * s.MaxDelay)
	if i.Tick(now); i.next == nil {
		t.Fatal("the first gives nothing any more")
	}
}

// TestStandstillTeachesNothing shows that a stall which spans a standstill of the consumer is not taken for one as long.
func TestStandstillTeachesNothing(t *testing.T) {
	s := DefaultSettings()
	for _, gap := range []int64{0, 20 * second} {
		i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b"}, Tentative: true}, 1, &opener{}, &heardAll{})
		p := &i.producers[0]
		i.Reachable(1, 0, true)
		i.Heard(1, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1})
		p.stalls()
		now := Instant(1).Add(200_000 + gap)
		i.Resumed(now, gap)
		i.Heard(now, 0, StreamStatus{State: Stable, Boundary: 200, Generation: 1})
		if got := i.lenient.limit(now); got != 600_000 {
			t.Fatalf("a stall of 200 ms and a standstill of %d µs teach to bear %d µs", gap, got)
		}
	}
}

// TestStandstillMakesNobodyLate shows that one late boundary before a standstill of the consumer, and one behind it, are no more than
// two that follow each other.
func TestStandstillMakesNobodyLate(t *testing.T) {
	s := DefaultSettings()
	i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a"}, Tentative: true}, 1, &opener{}, &heardAll{})
	now, at := Instant(1), tuple.Time(100)
	i.Reachable(now, 0, true)
	i.Heard(now, 0, StreamStatus{State: UpstreamFailure, Boundary: at, Generation: 1})
	i.Opened(now, i.next.id)
	late := func(pause int64) bool {
		now, at = now.Add(pause), at.Add(pause)
		f := &tuple.Frame{Kind: tuple.TentativeBoundary, Run: tuple.Run{Producer: "a", N: 1}, Time: at, Age: 2 * s.MaxDelay}
		if err := i.Frame(now, i.data.id, f); err != nil {
			t.Fatal(err)
		}
		return now < i.producers[0].lateUntil
	}
	if late(1000) {
		t.Fatal("late by one boundary")
	}
	const gap = 20 * second
	i.Resumed(now.Add(gap), gap)
	if late(gap + 1000) {
		t.Fatal("late by a standstill of the consumer")
	}
	if !late(lead(&s)) {
		t.Fatal("not late, although its boundaries have been for long enough")
	}
}
