package optest

import (
	"fmt"

	"fednode/query/op"
	"fednode/query/tuple"
)

func (r *rig) deterministic() {
	x := r.run("plain delivery", r.plain())
	if x.rows == 0 && !r.c.Silent {
		r.t.Fatalf("the case yields no row, so it shows nothing")
	}
	r.want = x.transcript()
	r.compare("running again", r.run("running again", r.plain()))
}

func (r *rig) cuts() {
	for _, n := range []int{1, 7, 0} {
		for enc := range encodings {
			d := r.plain()
			d.cut = func() int { return n }
			if n == 0 {
				d.cut = func() int { return 1 + r.rng.IntN(60) }
			}
			d.enc = func() encoding { return enc }
			what := fmt.Sprintf("cutting into %d rows in encoding %d", n, enc)
			r.compare(what, r.run(what, d))
		}
	}
	d := r.plain()
	d.cut, d.enc = func() int { return 1 + r.rng.IntN(20) }, r.anyEncoding
	r.compare("mixing encodings", r.run("mixing encodings", d))
}

func (r *rig) boundaries() {
	for _, n := range []int{0, 1, 3, 100} {
		d := r.plain()
		d.boundaries = r.grid(n)
		what := fmt.Sprintf("placing %d boundaries", n)
		r.compare(what, r.run(what, d))
	}
	d := r.plain()
	d.boundaries = r.grid(40)
	d.mix, d.ahead = r.rng, true
	d.cut = func() int { return 1 + r.rng.IntN(9) }
	r.compare("giving rows ahead of boundaries", r.run("giving rows ahead of boundaries", d))
}

func (r *rig) interleavings() {
	if len(r.streams) < 2 {
		return
	}
	for range 4 {
		d := r.plain()
		d.mix, d.boundaries = r.rng, r.grid(20)
		d.cut, d.enc = func() int { return 1 + r.rng.IntN(9) }, r.anyEncoding
		r.compare("interleaving the ports", r.run("interleaving the ports", d))
	}
	// One port races to its end before the other begins.
	for first := range r.streams {
		var steps []step
		for i := range r.streams {
			p := (first + i) % len(r.streams)
			one := r.plain()
			for _, s := range one.steps(r.streams) {
				if s.port == p {
					steps = append(steps, s)
				}
			}
		}
		x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
		r.finish("giving one port first", x, steps)
		r.compare("giving one port first", x)
	}
}

// restored replaces the instance at every aligned point by a new one restored from its snapshot.
func (r *rig) restored() {
	d := r.plain()
	d.mix, d.boundaries = r.rng, r.grid(15)
	d.cut = func() int { return 1 + r.rng.IntN(30) }
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	for _, s := range d.steps(r.streams) {
		r.finish("before a restore", x, []step{s})
		if s.aligned && s.boundary != tuple.MaxTime {
			x.op = r.restore(x.op)
		}
	}
	r.compare("restoring from snapshots", x)
}

func (r *rig) restore(o op.Operator) op.Operator {
	r.t.Helper()
	var e tuple.Encoder
	o.Snapshot(&e)
	fresh := r.plan.New()
	dec := tuple.NewDecoder(e.B)
	fresh.Restore(dec)
	if err := dec.Close(); err != nil {
		r.t.Fatalf("its own snapshot is refused: %v", err)
	}
	var again tuple.Encoder
	fresh.Snapshot(&again)
	if string(again.B) != string(e.B) {
		r.t.Fatalf("a restored instance has another snapshot (%d and %d bytes)", len(e.B), len(again.B))
	}
	return fresh
}

// snapshotBytes compares the snapshots of instances that got the same rows in different cuts and encodings.
func (r *rig) snapshotBytes() {
	a := r.plain()
	b := r.plain()
	b.cut, b.enc, b.mix = func() int { return 1 + r.rng.IntN(9) }, r.anyEncoding, r.rng
	take := func(d *delivery) (out []string) {
		x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
		for _, s := range d.steps(r.streams) {
			r.finish("towards a snapshot", x, []step{s})
			if s.aligned {
				out = append(out, snapshotOf(x.op))
			}
		}
		return out
	}
	want, got := take(a), take(b)
	for i := range want {
		if want[i] != got[i] {
			r.t.Fatalf("snapshot %d depends on cuts or encodings (%d and %d bytes)", i, len(want[i]), len(got[i]))
		}
	}
}

func snapshotOf(o op.Operator) string {
	var e tuple.Encoder
	o.Snapshot(&e)
	return string(e.B)
}

// forked lets an instance and forks of it go on side by side: one fork gets the same rows, another gets others.
func (r *rig) forked() {
	d := r.plain()
	d.mix, d.boundaries = r.rng, r.grid(9)
	d.cut = func() int { return 1 + r.rng.IntN(30) }
	steps := d.steps(r.streams)
	at := r.rng.IntN(len(steps))
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	r.finish("before a fork", x, steps[:at])
	same := x.twin(x.op.Fork())
	other := x.twin(x.op.Fork())
	other.streams = r.otherStreams()
	for _, s := range steps[at:] {
		for _, y := range []*driver{other, x, same} {
			r.finish("beside a fork", y, []step{s})
		}
		if s.aligned && snapshotOf(x.op) != snapshotOf(same.op) {
			r.t.Fatalf("an instance and its fork have different snapshots after %v", s)
		}
	}
	r.compare("having forks", x)
	r.compare("being a fork", same)
}

// otherStreams has the same stimes with the rows of other places, so that the same steps fit.
func (r *rig) otherStreams() []*tuple.Batch {
	var out []*tuple.Batch
	for _, s := range r.streams {
		perm := make([]uint32, len(s.Time))
		for i := range perm {
			perm[i] = uint32(r.rng.IntN(len(perm)))
		}
		view := *s
		view.Sel = perm
		b := view.Clone()
		copy(b.Time, s.Time)
		out = append(out, b)
	}
	return out
}

// damaged restores from broken snapshots: they are refused, or give an instance that at least does not fail.
func (r *rig) damaged() {
	steps := r.plain().steps(r.streams)
	half := len(steps) / 2
	for half < len(steps) && !steps[half].aligned {
		half++
	}
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	r.finish("towards a snapshot", x, steps[:half+1])
	var e tuple.Encoder
	x.op.Snapshot(&e)
	for range 60 {
		if len(e.B) == 0 {
			return
		}
		b := append([]byte(nil), e.B...)
		if r.rng.IntN(4) == 0 {
			b = b[:r.rng.IntN(len(b))]
		} else {
			b[r.rng.IntN(len(b))] ^= byte(1 + r.rng.IntN(255))
		}
		r.tryDamaged(b, x, steps[half+1:])
	}
}

func (r *rig) tryDamaged(b []byte, x *driver, rest []step) {
	r.t.Helper()
	defer func() {
		if v := recover(); v != nil {
			r.t.Fatalf("a damaged snapshot panics: %v\nsnapshot %x", v, b)
		}
	}()
	o := r.plan.New()
	d := tuple.NewDecoder(b)
	o.Restore(d)
	if d.Close() != nil {
		return
	}
	y := x.twin(o)
	y.run(rest) // what it emits is of no interest
}

// bounded checks that the state stops growing.
func (r *rig) bounded() {
	d := r.plain()
	d.boundaries = r.grid(100)
	d.cut = func() int { return 256 }
	steps := d.steps(r.streams)
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	r.finish("a long stream", x, steps[:len(steps)/2])
	half := x.maxBytes
	r.finish("a long stream", x, steps[len(steps)/2:])
	if x.maxBytes > half+half/2+64<<10 {
		r.t.Fatalf("state grew from %d bytes in the first half to %d in the second", half, x.maxBytes)
	}
}
