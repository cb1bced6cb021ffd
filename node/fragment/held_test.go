package fragment

import (
	"slices"
	"testing"
	"time"

	"fednode/node/flow"
	"fednode/query/tuple"
)

// TestHeldInput shows that an input which is far ahead of another, one that is quiet, is held before it fills memory, and
// goes on once the other does: all results come, and in the end nothing is held.
func TestHeldInput(t *testing.T) {
	const rows, waiting = 3000, 50
	calm := newHarness(t, rows)
	calm.start()
	want := calm.collect(func(int) {})
	calm.stop()

	h := newHarness(t, rows)
	h.waitingRows = waiting
	_, late := h.net.find("south/b").(*flow.Output).Unacknowledged()
	quiet := flow.NewOutput(flow.OutputConfig{Name: "south/b", Schema: late[0].Batch.Schema, Limit: 1 << 30, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"north/n1/q/sums"}})
	h.net.put(quiet)
	h.start()
	defer func() { h.stop() }()
	ahead := h.until("the input that is ahead is held", func(s Status) bool { return s.Inputs[0].Held })
	if s := ahead.Inputs[0]; s.Waiting <= waiting || s.Rows > rows/2 {
		t.Fatalf("held with %d rows waiting, %d of %d taken; want a little more than %d", s.Waiting, s.Rows, rows, waiting)
	}
	if ahead.Inputs[1].Held {
		t.Fatal("the quiet input is held, for which the other waits")
	}
	for _, f := range late {
		quiet.Append(f)
	}
	if got := h.collect(func(int) {}); !slices.Equal(got, want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	h.until("nothing is held any more", func(s Status) bool {
		return !slices.ContainsFunc(s.Inputs, func(in InputStatus) bool { return in.Held || in.Rows != rows })
	})
}

// until waits for a condition of the fragment's status.
func (h *harness) until(what string, ok func(Status) bool) Status {
	h.t.Helper()
	patience := time.After(time.Minute)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		s := h.runner.Status()
		if ok(s) {
			return s
		}
		select {
		case <-look.C:
		case <-patience:
			h.t.Fatalf("waited for: %s; the status is %+v", what, s)
		}
	}
}
