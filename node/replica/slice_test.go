package replica

import (
	"errors"
	"testing"

	"fednode/dcaa"
	"fednode/query/op"
)

// TestForkInSlices shows that a replica which has to serve all that came in minutes gives it in slices: the one that served
// has died, and between two slices it hears of inputs and peers.
func TestForkInSlices(t *testing.T) {
	s := newStage(t, unionQuery, nil)
	s.run(5000 * ms)
	s.cut(1, true)
	for range 600 { // a minute of one input, while the loop does something else
		src := s.sources[0]
		src.produce(s.plan.Inputs[0].Schema, s.now, 0)
		for ; src.sent < len(src.log); src.sent++ {
			if err := s.r.Frame(s.now, 0, src.conn, src.log[src.sent]); err != nil {
				t.Fatal(err)
			}
		}
		s.now += 100 * ms
	}
	slices, before := 0, s.outputs[0].boundary
	for busy := true; busy; slices++ {
		var err error
		if busy, err = s.r.Advance(s.now); err != nil {
			t.Fatal(err)
		}
		if got := s.outputs[0].boundary; busy && int64(got-before) > (mostBuckets+10)*100*ms {
			t.Fatalf("a slice of %d ms", int64(got-before)/ms)
		}
		before = s.outputs[0].boundary
	}
	if late := int64(s.now) - int64(before) - 1_000_000*ms; slices < 2 || late > 3000*ms {
		t.Fatalf("%d slices, and results %d ms behind", slices, late/ms)
	}
	s.cut(1, false)
	s.run(10_000 * ms)
	if len(s.outputs[0].tentative) != 0 {
		t.Fatalf("%d tentative rows are left", len(s.outputs[0].tentative))
	}
}

// TestForkPastStateBytes shows that a fork which holds more than it may is given up alone: its rows are undone, the reason
// is told, and the stable instance goes on and corrects.
func TestForkPastStateBytes(t *testing.T) {
	var causes []error
	s := newStage(t, unionQuery, func(c *Config) { c.StateBytes = 1 })
	s.r.shell = tellTale{s, &causes}
	s.run(5000 * ms)
	s.cut(1, true)
	s.run(6000 * ms)
	if s.outputs[0].undone != 1 || len(s.outputs[0].tentative) != 0 {
		t.Fatalf("undone %d times, %d tentative rows", s.outputs[0].undone, len(s.outputs[0].tentative))
	}
	var limit *op.LimitError
	if len(causes) != 1 || !errors.As(causes[0], &limit) || limit.Limit != 1 {
		t.Fatalf("told %v, want the limit, once", causes)
	}
	if got := s.r.unions[0].path.state; got != dcaa.Stabilization {
		t.Fatalf("state %v", got)
	}
	s.cut(1, false)
	s.run(9000 * ms)
	compare(t, s, reference(t, unionQuery, 20_000*ms))
}

// tellTale is a stage that keeps why forks were given up.
type tellTale struct {
	*stage
	causes *[]error
}

func (s tellTale) Changed(c Change) {
	s.stage.Changed(c)
	if c.Cause != nil {
		*s.causes = append(*s.causes, c.Cause)
	}
}
