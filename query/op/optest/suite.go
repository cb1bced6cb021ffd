package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fednode/query/op"
	"fednode/query/tuple"
)

// Case is one declaration of a kind, and the shape of the streams it is tried with.
type Case struct {
	Name        string
	Kind        string
	Declaration string // the operator's own keys as in a query file
	Inputs      []Input
	// Lag is by how many microseconds the returned boundary may stay behind the least of the inputs'.
	Lag int64
	// Waits says that rows wait for the end of an input: neither boundary nor state is bounded by time.
	Waits bool
	// Silent cases may yield no row at all.
	Silent bool
}

// Sizes of the streams: small ones many times for the rules, a long one once for the growth of state.
const (
	shortRows = 240
	longRows  = 12_000
	seeds     = 3
)

// Run holds the case to every rule of package op.
func Run(t *testing.T, c Case) {
	t.Helper()
	p, inputs := c.plan(t)
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("%s/seed=%d", c.Name, seed), func(t *testing.T) {
			newRig(t, c, p, inputs, seed, shortRows).rules()
		})
	}
	if c.Waits {
		return
	}
	t.Run(c.Name+"/bounded", func(t *testing.T) { newRig(t, c, p, inputs, 99, longRows).bounded() })
}

// lag is how far the returned boundary may stay behind.
func (c Case) lag() int64 {
	if c.Waits {
		return math.MaxInt64
	}
	return c.Lag
}

func (c Case) plan(t *testing.T) (*op.Plan, []op.Input) {
	t.Helper()
	var in []op.Input
	for i, x := range c.Inputs {
		s, err := Schema(x.Schema)
		if err != nil {
			t.Fatal(err)
		}
		input := op.Input{Name: x.Name, Schema: s}
		if input.Name == "" {
			input.Name = fmt.Sprintf("in%d", i)
		}
		if x.Table != nil {
			input.Table = &op.Table{Key: x.Table.Key, Match: x.Table.Match, TTL: x.Table.TTL}
		}
		in = append(in, input)
	}
	p, err := Build(c.Kind, c.Declaration, in)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if p.Kind != c.Kind || p.Detail == "" || p.State == "" || len(p.Reads) != len(in) {
		t.Fatalf("%s: incomplete plan: kind %q, detail %q, state %q, reads of %d inputs", c.Name, p.Kind, p.Detail, p.State, len(p.Reads))
	}
	return p, in
}

// failer is the part of testing.T that a rig needs.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// rig is one case with one set of random streams.
type rig struct {
	t       failer
	c       Case
	plan    *op.Plan
	streams []*tuple.Batch
	rng     *rand.Rand
	end     tuple.Time // after every row
	want    string     // the transcript that every delivery must give
}

func newRig(t failer, c Case, p *op.Plan, in []op.Input, seed uint64, rows int) *rig {
	r := &rig{t: t, c: c, plan: p, rng: rand.New(rand.NewPCG(seed, 7))}
	for i := range in {
		s := c.Inputs[i].stream(in[i].Schema, r.rng, rows)
		r.streams = append(r.streams, s)
		r.end = max(r.end, s.Time[len(s.Time)-1]+1)
	}
	return r
}

// rules holds the operator to every rule that short streams can show.
func (r *rig) rules() {
	r.deterministic()
	r.cuts()
	r.boundaries()
	r.interleavings()
	r.shuffled()
	r.restored()
	r.snapshotBytes()
	r.forked()
	r.damaged()
}

// grid returns n boundaries evenly over the streams, then the end.
func (r *rig) grid(n int) []tuple.Time {
	var out []tuple.Time
	for i := range n {
		out = append(out, tuple.Time(int64(r.end)*int64(i+1)/int64(n)))
	}
	return append(out, tuple.MaxTime)
}

func (r *rig) plain() *delivery {
	return &delivery{
		cut:        func() int { return 4096 },
		enc:        func() encoding { return sharedDict },
		boundaries: r.grid(12),
	}
}

func (r *rig) anyEncoding() encoding { return encoding(r.rng.IntN(int(encodings))) }

// run delivers the streams to a new instance and returns its driver.
func (r *rig) run(what string, d *delivery) *driver {
	r.t.Helper()
	x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
	r.finish(what, x, d.steps(r.streams))
	return x
}

func (r *rig) finish(what string, x *driver, steps []step) {
	r.t.Helper()
	if x.run(steps); x.err != nil {
		r.t.Fatalf("%s: %v", what, x.err)
	}
}

func (r *rig) compare(what string, x *driver) {
	r.t.Helper()
	if got := x.transcript(); got != r.want {
		r.t.Fatalf("%s changes the output:\n%s", what, firstDifference(r.want, got))
	}
}

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

// shuffled checks the claim of Plan.OrderInsensitive. Rows keep their stime, so what is emitted at once is compared as
// it stands only when the operator restores the order.
func (r *rig) shuffled() {
	if !r.plan.OrderInsensitive {
		return
	}
	original := r.streams
	defer func() { r.streams = original }()
	for range 3 {
		r.streams = nil
		for _, s := range original {
			r.streams = append(r.streams, shuffleWithin(s, r.grid(12), r.rng))
		}
		x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
		if !r.plan.RestoresOrder {
			// The rows leave in the order they came, so neither their order nor stimes that rise can be asked for.
			if got, want := r.unordered(), sortedLines(r.want); got != want {
				r.t.Fatalf("order within boundaries changes the rows:\n%s", firstDifference(want, got))
			}
			continue
		}
		r.finish("shuffling", x, r.shuffledSteps())
		r.compare("shuffling between boundaries", x)
	}
}

// shuffledSteps cuts by place, since stimes no longer rise.
func (r *rig) shuffledSteps() []step {
	var out []step
	next := make([]int, len(r.streams))
	for _, t := range r.grid(12) {
		for p, s := range r.streams {
			end := next[p]
			for end < len(s.Time) && s.Time[end] < t {
				end++
			}
			if next[p] < end {
				out = append(out, step{port: p, lo: next[p], hi: end, enc: sharedDict})
			}
			next[p] = end
			out = append(out, step{port: p, boundary: t})
		}
	}
	return out
}

func (r *rig) unordered() string {
	var lines lineSink
	o := r.plan.New()
	for _, s := range r.shuffledSteps() {
		var err error
		if s.lo < s.hi {
			err = o.Process(s.port, cut(r.streams[s.port], s.lo, s.hi, s.enc), &lines)
		} else {
			_, err = o.Boundary(s.port, s.boundary, &lines)
		}
		if err != nil {
			r.t.Fatalf("shuffling: %v", err)
		}
	}
	return sortedLines(lines.transcript(r.plan))
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
				var e tuple.Encoder
				x.op.Snapshot(&e)
				out = append(out, string(e.B))
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

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(end)", "(end)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n want %s\n got  %s", i+1, a, b)
		}
	}
	return "no difference"
}
