package optest

import (
	"fmt"

	"fednode/query/tuple"
)

// aheadGrid is into how many boundaries a stream is cut to show that ports may be apart.
const aheadGrid = 16

// heldBack delivers the streams as after a failure: from some boundary on all ports but one are held back, while that one
// goes on; then they catch up. In between the operator is forked, or replaced by what its snapshot restores.
func (r *rig) heldBack() {
	if len(r.streams) < 2 {
		return
	}
	for first := range r.streams {
		for _, lead := range []int{1, 6, aheadGrid + 1} {
			h := hold{first: first, from: r.rng.IntN(aheadGrid), lead: lead}
			plain := r.held(h, r.plain())
			r.heldRestored(h, plain)
			r.heldForked(h, plain)
			r.heldBytes(h, plain)
		}
	}
}

// hold says that port first is lead boundaries ahead of all others after boundary number from.
type hold struct{ first, from, lead int }

// String prints the hold for failures.
func (h hold) String() string {
	return fmt.Sprintf("holding all ports but %d back for %d boundaries from the %dth on", h.first, h.lead, h.from)
}

// held lists the steps of a delivery under a hold.
func (r *rig) held(h hold, d *delivery) []step {
	d.boundaries = r.grid(aheadGrid)
	buckets := make([][][]step, len(r.streams)) // by port and boundary
	for p := range buckets {
		buckets[p] = make([][]step, len(d.boundaries))
	}
	k := make([]int, len(r.streams))
	for _, s := range d.steps(r.streams) {
		s.aligned = false
		buckets[s.port][k[s.port]] = append(buckets[s.port][k[s.port]], s)
		if s.lo == s.hi {
			k[s.port]++
		}
	}
	var out []step
	give := func(lo, hi int, first bool) {
		for b := lo; b < min(hi, len(d.boundaries)); b++ {
			for p := range buckets {
				if (p == h.first) == first {
					out = append(out, buckets[p][b]...)
				}
			}
		}
	}
	for b := range h.from {
		give(b, b+1, true)
		give(b, b+1, false)
	}
	give(h.from, h.from+h.lead, true)
	give(h.from, h.from+h.lead, false)
	for b := h.from + h.lead; b < len(d.boundaries); b++ {
		give(b, b+1, true)
		give(b, b+1, false)
	}
	return out
}

// heldRestored replaces the instance after every boundary by one restored from its snapshot.
func (r *rig) heldRestored(h hold, steps []step) {
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	for _, s := range steps {
		r.finish(h.String(), x, []step{s})
		if s.lo == s.hi && s.boundary != tuple.MaxTime {
			x.op = r.restore(x.op)
		}
	}
	r.compare(h.String()+" and restoring", x)
}

// heldForked forks the instance at a random step, gives other rows to another fork, and lets both others finish.
func (r *rig) heldForked(h hold, steps []step) {
	at := r.rng.IntN(len(steps))
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	r.finish(h.String(), x, steps[:at])
	same, other := x.twin(x.op.Fork()), x.twin(x.op.Fork())
	other.streams = r.otherStreams()
	for _, s := range steps[at:] {
		for _, y := range []*driver{other, x, same} {
			r.finish(h.String()+" beside a fork", y, []step{s})
		}
	}
	r.compare(h.String()+" with forks", x)
	r.compare(h.String()+" as a fork", same)
}

// heldBytes compares the snapshots after every boundary with those of an instance that got other cuts and encodings.
func (r *rig) heldBytes(h hold, steps []step) {
	d := r.plain()
	d.cut, d.enc = func() int { return 1 + r.rng.IntN(9) }, r.anyEncoding
	want, got := r.heldSnapshots(h, steps), r.heldSnapshots(h, r.held(h, d))
	for i := range want {
		if want[i] != got[i] {
			r.t.Fatalf("%v: snapshot %d depends on cuts or encodings (%d and %d bytes)", h, i, len(want[i]), len(got[i]))
		}
	}
}

func (r *rig) heldSnapshots(h hold, steps []step) (out []string) {
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	for _, s := range steps {
		if r.finish(h.String(), x, []step{s}); s.lo == s.hi {
			out = append(out, snapshotOf(x.op))
		}
	}
	return out
}
