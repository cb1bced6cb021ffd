package dcaa

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// lineWorld is two nodes whose clocks have nothing to do with each other. Each beats every 100 ms, the other one half of that
// later.
type lineWorld struct {
	at     int64    // now, by neither clock
	clocks [2]int64 // what they show at 0
	lines  [2]Line
	there  int64 // from node 0 to node 1
	back   int64 // from node 1 to node 0
	flying []flying
}

// flying is a heartbeat on its way.
type flying struct {
	to int
	at int64
	b  Beat
}

const lineBeat = 100_000

func newLineWorld(there, back int64) *lineWorld {
	return &lineWorld{clocks: [2]int64{7 * second, 90_000 * second}, there: there, back: back}
}

func (w *lineWorld) clock(node int) Instant { return Instant(w.clocks[node] + w.at) }

// beat lets both send a heartbeat, and whatever arrives meanwhile arrive.
func (w *lineWorld) beat() {
	for node, takes := range [2]int64{w.there, w.back} {
		w.flying = append(w.flying, flying{to: 1 - node, at: w.at + takes, b: w.lines[node].Next(w.clock(node))})
		w.pass(lineBeat / 2)
	}
}

func (w *lineWorld) pass(d int64) {
	for end := w.at + d; w.at < end; w.at += 1000 {
		for len(w.flying) > 0 {
			k := 0
			for n := range w.flying {
				if w.flying[n].at < w.flying[k].at {
					k = n
				}
			}
			f := w.flying[k]
			if f.at > w.at {
				break
			}
			w.lines[f.to].Take(w.clock(f.to), f.b, true)
			w.flying = slices.Delete(w.flying, k, k+1)
		}
	}
}

func (w *lineWorld) beats(n int) {
	for range n {
		w.beat()
	}
}

// TestLineSeesThePileEnd shows that what comes at once when a narrow link is wide again is not taken for as late as what came
// before, though we are too busy with it to measure anything; and that heartbeats which waited for us make nothing later.
func TestLineSeesThePileEnd(t *testing.T) {
	const ms = 1000
	w := newLineWorld(10*ms, 10*ms)
	w.beats(20)
	w.there = 2010 * ms
	w.beats(40)
	here := &w.lines[1]
	if got := here.Way().Late; got != 2000*ms {
		t.Fatalf("late by %d before the pile ends", got)
	}
	now := w.clock(1)
	sent := int64(w.clock(0)) - 2000*ms
	for behind := int64(1900 * ms); behind >= 0; behind -= 100 * ms {
		here.Take(now, Beat{Sent: sent + 2000*ms - behind, Echo: 1}, false)
		if got, want := here.Way().Late, max(0, behind-10*ms); got != want {
			t.Errorf("late by %d, want %d: it was sent %d ago", got, want, behind)
		}
	}
	here.Take(now.Add(5*second), Beat{Sent: sent + 2100*ms, Echo: 1}, false)
	if got := here.Way().Late; got != 0 {
		t.Errorf("late by %d, since we did not look", got)
	}
}

// TestLineTellsDirectionsApart shows that what has been added to one direction is seen at its end, and there alone.
func TestLineTellsDirectionsApart(t *testing.T) {
	const ms = 1000
	w := newLineWorld(10*ms, 10*ms)
	if got := w.lines[1].Way(); got != (Way{}) || got.Age() != (Age{}) {
		t.Errorf("before any heartbeat %+v", got)
	}
	w.beats(20)
	for end := range w.lines {
		if got, want := w.lines[end].Way(), (Way{RoundTrip: 20 * ms, Calm: 20 * ms}); got != want {
			t.Errorf("in calm end %d has %+v, want %+v", end, got, want)
		}
	}
	for range 10 { // it fills up
		w.there += 40 * ms
		w.beat()
	}
	got := w.lines[1].Way() // what arrived last was 240 and 280 ms later than in calm
	if want := int64(240 * ms); got.Calm != 20*ms || got.Late != want {
		t.Errorf("behind the narrow way %+v, want late by %d", got, want)
	}
	if want := (Age{Total: 10*ms + got.Late, Normal: 10 * ms}); got.Age() != want {
		t.Errorf("ages rise by %+v, want %+v", got.Age(), want)
	}
	if got := w.lines[0].Way(); got.Late != 0 {
		t.Errorf("before it %+v", got)
	}
	w.there = 10 * ms
	w.beats(2)
	if got := w.lines[1].Way(); got.Late != 0 {
		t.Errorf("when it is over %+v", got)
	}
}

// TestLineOfTheRestarted shows that who is started in trouble learns from the other end what is normal, as long as anybody knows.
func TestLineOfTheRestarted(t *testing.T) {
	const ms = 1000
	w := newLineWorld(10*ms, 10*ms)
	w.beats(20)
	w.lines[1] = Line{}
	w.lines[0].Begin()
	w.there, w.back = 410*ms, 410*ms
	w.beats(10)
	if got, want := w.lines[1].Way(), (Way{RoundTrip: 820 * ms, Calm: 20 * ms, Late: 400 * ms}); got != want {
		t.Errorf("the one that was restarted has %+v, want %+v", got, want)
	}
	if got, want := w.lines[0].Way(), (Way{RoundTrip: 820 * ms, Calm: 20 * ms, Late: 400 * ms}); got != want {
		t.Errorf("the other one has %+v, want %+v", got, want)
	}
	w.beats(int(3 * FloorSpan / lineBeat))
	for end := range w.lines {
		if got, want := w.lines[end].Way(), (Way{RoundTrip: 820 * ms, Calm: 820 * ms, Late: 0}); got.Calm != want.Calm {
			t.Errorf("what has stayed so is normal: end %d has %+v, want %+v", end, got, want)
		}
	}
}

// TestLineWithstandsClocks shows that a clock which jumps ahead, at either end, makes no way longer but for a moment, and that
// clocks of different rates do not add up.
func TestLineWithstandsClocks(t *testing.T) {
	const ms = 1000
	for jumping := range 2 {
		w := newLineWorld(10*ms, 10*ms)
		w.beats(20)
		w.clocks[jumping] += 3 * second
		w.beats(3)
		for range 100 {
			w.beat()
			for end := range w.lines {
				if got := w.lines[end].Way(); got.Late > 0 || got.Calm > 20*ms {
					t.Fatalf("clock %d has jumped, and end %d has %+v", jumping, end, got)
				}
			}
		}
		w.there = 510 * ms
		w.beats(10)
		if got := w.lines[1].Way(); got.Late != 500*ms {
			t.Errorf("clock %d had jumped, and a narrow way is late by %d", jumping, got.Late)
		}
	}
	w := newLineWorld(10*ms, 10*ms)
	for range 20 * 60 * second / lineBeat {
		w.clocks[1] += 10 // 100 ppm
		w.beat()
		for end := range w.lines {
			if got := w.lines[end].Way(); got.Late > 100 {
				t.Fatalf("the clocks drift apart, and end %d has %+v", end, got)
			}
		}
	}
}

// TestLineOfAnything shows that no heartbeat, however wrong, makes a way longer than the round trip that came with it.
func TestLineOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := func(now Instant) int64 {
		switch r.IntN(5) {
		case 0:
			return 0
		case 1:
			return r.Int64N(1 << 56)
		case 2:
			return -r.Int64N(1 << 56)
		}
		return int64(now) - second + r.Int64N(2*second)
	}
	var l Line
	now := Instant(5 * second)
	for range 100_000 {
		now = now.Add(r.Int64N(200_000))
		b := Beat{Sent: some(now), Echo: some(now), Held: r.Int64N(second), Calm: some(now)}
		l.Take(now, b, r.IntN(4) > 0)
		if r.IntN(1000) == 0 {
			l.Begin()
		}
		w := l.Way()
		if w.Late < 0 || w.Calm < 0 || w.RoundTrip < 0 || w.Calm > w.RoundTrip || w.Late > int64(now) {
			t.Fatalf("%+v behind %+v at %d", w, b, now)
		}
	}
}

// TestLineTakenMeanwhile shows that a heartbeat says of none that its sender has held it for less than no time, also if one came
// between the look at the clock and the sending: who gets it would take that for a breach of the rules.
func TestLineTakenMeanwhile(t *testing.T) {
	var l Line
	l.Take(1000, Beat{Sent: 7}, true)
	if got, want := l.Next(998), (Beat{Sent: 998, Echo: 7}); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	if got, want := l.Next(1005), (Beat{Sent: 1005, Echo: 7, Held: 5}); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
}

// TestLineOfLiar shows that whatever a peer says of times, what comes out is a way that has some length, as long as our own clock
// has run at most, and that what we say of it is within what a heartbeat may carry.
func TestLineOfLiar(t *testing.T) {
	const most = 1 << 56
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var l Line
		now := Instant(1)
		for range 200 {
			now = now.Add(rng.Int64N(lineBeat))
			told := func() int64 {
				return [...]int64{0, 1, most, rng.Int64N(most), rng.Int64N(int64(now) + 1), int64(now)}[rng.IntN(6)]
			}
			b := Beat{Sent: told(), Echo: told(), Held: told(), Calm: told()}
			if rng.IntN(4) > 0 {
				b.Sent = l.got + rng.Int64N(1000) // else the largest one would be the last that counts
			}
			l.Take(now, b, true)
			w := l.Way()
			if w.RoundTrip < 0 || w.Calm < 0 || w.Late < 0 || w.Calm > w.RoundTrip || max(w.RoundTrip, w.Late) > int64(now) {
				t.Fatalf("%+v at %d of %+v", w, now, b)
			}
			n := l.Next(now)
			if min(n.Sent, n.Echo, n.Held, n.Calm) < 0 || max(n.Sent, n.Held, n.Calm) > int64(now) || n.Echo != l.got {
				t.Fatalf("says %+v at %d", n, now)
			}
		}
	}
}
