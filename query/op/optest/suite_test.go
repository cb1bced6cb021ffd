package optest

import (
	"fmt"
	"strings"
	"testing"

	"fednode/query/op"
	"fednode/query/tuple"
)

// counter is a small correct operator: it adds to every row how many rows came before it, and on the boundary nothing.
// Its faults are switched on one by one, to see that the suite finds each.
type counter struct {
	f     fault
	plan  *op.Plan
	n     *int64
	kept  *tuple.Batch // what keepsInput should not keep
	out   tuple.Batch
	total []int64
	calls int
}

type fault string

const (
	correct       fault = "none"
	countsBatches fault = "counts batches"
	keepsInput    fault = "keeps its input"
	writesInput   fault = "writes to its input"
	forgets       fault = "leaves its state out of the snapshot"
	sharesState   fault = "shares state with a fork"
	lateBoundary  fault = "holds the boundary back"
	falseBoundary fault = "emits below its boundary"
	cutsSnapshot  fault = "writes the number of calls into the snapshot"
	encodingShows fault = "emits codes instead of values"
	panicsOnBytes fault = "panics on a damaged snapshot"
	grows         fault = "grows without bound"
	claimsOrder   fault = "claims that order does not matter"
)

func (c *counter) Process(_ int, b *tuple.Batch, out op.Out) error {
	c.calls++
	c.total = c.total[:0]
	for i := range b.Rows() {
		*c.n++
		v := *c.n
		switch c.f {
		case countsBatches:
			v = int64(c.calls)
		case encodingShows:
			v = int64(b.Cols[0].Code[b.Row(i)])
		}
		c.total = append(c.total, v)
	}
	if c.f == writesInput {
		b.Cols[1].Int[b.Row(0)]++
	}
	if c.f == keepsInput {
		last := c.kept
		c.kept = b
		if last != nil && last.Rows() > 0 {
			c.total[0] += last.Cols[1].Int[0]
		}
	}
	c.out = *b.Clone()
	c.out.Schema = c.plan.Ports[0].Schema
	c.out.Cols = append(c.out.Cols, tuple.Column{Type: tuple.Of(tuple.Int64), Int: c.total})
	if c.f == falseBoundary {
		for i := range c.out.Time {
			c.out.Time[i] -= tuple.Time(tuple.Second)
		}
	}
	return out.Batch(0, &c.out)
}

func (c *counter) Boundary(_ int, t tuple.Time, _ op.Out) (tuple.Time, error) {
	if c.f == lateBoundary && t != tuple.MaxTime {
		return t - 1, nil
	}
	return t, nil
}

func (c *counter) Snapshot(e *tuple.Encoder) {
	if c.f != forgets {
		e.Int(*c.n)
	}
	if c.f == cutsSnapshot {
		e.Int(int64(c.calls))
	}
}

func (c *counter) Restore(d *tuple.Decoder) {
	if c.f == forgets {
		return
	}
	*c.n = d.Int()
	if c.f == cutsSnapshot {
		c.calls = int(d.Int())
	}
	if c.f == panicsOnBytes && (d.Err() != nil || *c.n > 1000) {
		panic("no such count")
	}
}

func (c *counter) Fork() op.Operator {
	f := *c
	f.total = nil
	if c.f != sharesState {
		n := *c.n
		f.n = &n
	}
	return &f
}

func (c *counter) StateBytes() int64 {
	if c.f == grows {
		return *c.n * 100
	}
	return 8
}

func (c *counter) Counters() op.Counters { return op.Counters{} }

func counterPlan(f fault) *op.Plan {
	in, _ := Schema("s string, n int64")
	out, _ := Schema("s string, n int64, total int64")
	p := &op.Plan{Kind: "counter", Ports: []op.Port{{Schema: out}}, Reads: [][]string{in.Names()}, OrderInsensitive: f == claimsOrder}
	p.New = func() op.Operator { return &counter{f: f, plan: p, n: new(int64)} }
	return p
}

// stopped is how a recorder leaves the rig that failed.
type stopped struct{ msg string }

type recorder struct{}

func (recorder) Helper() {}

func (recorder) Fatalf(format string, args ...any) { panic(stopped{fmt.Sprintf(format, args...)}) }

// complaint runs every rule over the faulty operator and returns what the suite says, "" if nothing.
func complaint(f fault) (msg string) {
	defer func() {
		if s, ok := recover().(stopped); ok {
			msg = s.msg
		}
	}()
	p := counterPlan(f)
	c := Case{Inputs: []Input{{Schema: "s string, n int64"}}}
	s, _ := Schema(c.Inputs[0].Schema)
	in := []op.Input{{Name: "in", Schema: s}}
	newRig(recorder{}, c, p, in, 1, shortRows).rules()
	newRig(recorder{}, c, p, in, 1, longRows).bounded()
	return ""
}

// The suite is worth what it finds: each fault alone makes it complain, for the right reason.
func TestSuiteFindsFaults(t *testing.T) {
	want := map[fault]string{
		correct:       "",
		countsBatches: "changes the output",
		keepsInput:    "changes the output",
		writesInput:   "changed its input",
		forgets:       "restoring from snapshots changes the output",
		sharesState:   "fork",
		lateBoundary:  "lags behind",
		falseBoundary: "and boundary",
		cutsSnapshot:  "depends on cuts",
		encodingShows: "changes the output",
		panicsOnBytes: "a damaged snapshot panics",
		grows:         "state grew",
		claimsOrder:   "order within boundaries changes the rows",
	}
	for f, reason := range want {
		got := complaint(f)
		if reason == "" && got != "" || !strings.Contains(got, reason) {
			t.Errorf("an operator that %s: the suite says %q, expected %q", f, got, reason)
		}
	}
}
