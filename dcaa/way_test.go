package dcaa

import "testing"

// TestWay shows that what waits at a link that has become narrow is delay, and that no more than the measured way is normal.
func TestWay(t *testing.T) {
	const ms = 1000
	var p producer
	if got := p.way(); got != (Age{}) {
		t.Errorf("a way that nobody has measured adds %+v", got)
	}
	for _, c := range []struct {
		at   int64
		rtt  int64
		want Age
		why  string
	}{
		{second, 20 * ms, Age{Total: 10 * ms, Normal: 10 * ms}, "in calm all of it is normal"},
		{2 * second, 0, Age{}, "no measurement says nothing"},
		{3 * second, 3000 * ms, Age{Total: 1500 * ms, Normal: 10 * ms}, "what has been added is delay"},
		{4 * second, 12 * ms, Age{Total: 6 * ms, Normal: 6 * ms}, "a shorter way is normal at once"},
		{200 * second, 100 * ms, Age{Total: 50 * ms, Normal: 6 * ms}, "a longer one not as soon"},
		{400 * second, 100 * ms, Age{Total: 50 * ms, Normal: 50 * ms}, "but when it has stayed so"},
	} {
		p.measured(Instant(c.at), c.rtt)
		if got := p.way(); got != c.want {
			t.Errorf("%d s: %+v, want %+v: %s", c.at/second, got, c.want, c.why)
		}
	}
}
