package fragment

import (
	"testing"

	"fednode/dcaa"
)

// TestWorkload shows that the load is the share of the last ten seconds in which something was done, and that a redo which
// has gained nothing on its input in ten seconds is one that cannot catch up, until it gains or ends.
func TestWorkload(t *testing.T) {
	const s = 1_000_000
	var w workload
	for k := range int64(10) {
		w.add(dcaa.Instant((k+1)*s), s/4, false, 0)
	}
	if w.load != 0.25 {
		t.Errorf("load %v, want 0.25", w.load)
	}
	if w.total != 10*s/4 {
		t.Errorf("worked for %d µs, want %d", w.total, 10*s/4)
	}
	if w.loses {
		t.Error("what redoes nothing cannot catch up")
	}
	now := int64(10)
	redo := func(behind func(second int64) int64, want bool, what string) {
		t.Helper()
		for k := range int64(21) {
			now++
			w.add(dcaa.Instant(now*s), s, true, behind(k))
		}
		if w.loses != want {
			t.Errorf("%s: loses is %v", what, w.loses)
		}
	}
	redo(func(int64) int64 { return 60 * s }, true, "as far behind as before")
	if w.load != 1 {
		t.Errorf("load %v, want 1", w.load)
	}
	redo(func(k int64) int64 { return (60 + k) * s }, true, "further behind")
	redo(func(k int64) int64 { return (40 - k) * s }, false, "gaining")
	redo(func(int64) int64 { return 30 * s }, true, "no longer")
	w.add(dcaa.Instant((now+1)*s), s, false, 0)
	if w.loses {
		t.Error("a redo that has ended cannot catch up")
	}
}
