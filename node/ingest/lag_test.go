package ingest

import (
	"testing"

	"fednode/query/tuple"
)

// TestLag shows what is taken for the normal lag of a source.
func TestLag(t *testing.T) {
	const s = tuple.Second
	live := Live()
	live.Lag = Measured
	declared, recorded := live, live
	declared.Lag, recorded.Advance = 7*s, false
	type rows struct {
		at, lag int64 // seconds
		backlog bool
	}
	for _, c := range []struct {
		name    string
		cfg     Config
		arrival bool // it is their time
		known   int64
		rows    []rows
		want    int64 // seconds
	}{
		{"nothing is known", live, false, Measured, nil, 0},
		{"the first rows tell", live, false, Measured, []rows{{1, 30, false}}, 30},
		{"rows that come late in a while in which others do not are an exception", live, false, Measured, []rows{{1, 30, false}, {60, 95, false}}, 30},
		{"a source that has become slower for good is believed after some minutes", live, false, Measured, []rows{{1, 30, false}, {130, 95, false}, {260, 95, false}}, 95},
		{"one that has become faster at once", live, false, Measured, []rows{{1, 30, false}, {2, 4, false}}, 4},
		{"rows ahead of their arrival have no lag", live, false, Measured, []rows{{1, -20, false}}, 0},
		{"a source that was away knows what was normal before", live, false, 30 * s, []rows{{1, 600, true}, {2, 200, true}}, 30},
		{"a backlog does not become normal however long it takes", live, false, 30 * s, []rows{{1, 600, true}, {400, 500, true}, {800, 400, true}}, 30},
		{"but is all that is known of a new source, and is worked off", live, false, Measured, []rows{{1, 200, true}, {2, 50, true}}, 50},
		{"what is normal is bounded", live, false, Measured, []rows{{1, 86_400, false}}, 300},
		{"also what was known", live, false, 86_400 * s, nil, 300},
		{"a declared lag counts whatever is seen", declared, false, 30 * s, []rows{{1, 90, false}}, 7},
		{"recorded rows lag behind nothing", recorded, false, Measured, []rows{{1, 90, false}}, 0},
		{"nor do rows whose time is their arrival", live, true, Measured, []rows{{1, 90, false}}, 0},
	} {
		l := NewLag(c.cfg, !c.arrival, c.known, 0)
		for _, r := range c.rows {
			arrival := tuple.Time(1_700_000_000*s + r.at*s)
			l.Rows(arrival.Add(-r.lag*s), arrival, tuple.Instant(r.at*s), !r.backlog)
		}
		l.Rows(tuple.MinTime, 0, 0, true) // a block of which nothing was accepted
		if got := l.Value(); got != c.want*s {
			t.Errorf("%s: %d s, want %d", c.name, got/s, c.want)
		}
	}
}
