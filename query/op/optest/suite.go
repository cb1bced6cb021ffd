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
		input := op.Input{Name: x.Name, Schema: s, Table: x.Table}
		if input.Name == "" {
			input.Name = fmt.Sprintf("in%d", i)
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
	r.heldBack()
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
