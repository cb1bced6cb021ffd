package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"fednode/query/op"
	"fednode/query/tuple"
)

// step is one call of an instance: a batch of rows [lo, hi) of a port's stream, or (lo == hi) a boundary.
type step struct {
	port     int
	lo, hi   int
	enc      encoding
	boundary tuple.Time
	aligned  bool // after it, every port has the same boundary and no row beyond it has been given
}

// delivery says how the streams of a run are given to an instance.
type delivery struct {
	cut        func() int // rows of the next batch
	enc        func() encoding
	boundaries []tuple.Time // instants at which every port gets a boundary; the last is MaxTime
	mix        *rand.Rand   // interleave the ports at random between two boundaries; nil is port after port
	ahead      bool         // rows may come before an earlier boundary has
	shuffle    *rand.Rand   // change the order of rows between two boundaries
}

// steps lists the calls that deliver the streams.
func (d *delivery) steps(streams []*tuple.Batch) []step {
	next := make([]int, len(streams))
	var out []step
	for _, t := range d.boundaries {
		queues := make([][]step, len(streams))
		for p, s := range streams {
			end := next[p]
			for end < len(s.Time) && s.Time[end] < t {
				end++
			}
			if d.ahead && d.mix != nil {
				end = min(len(s.Time), end+d.mix.IntN(4))
			}
			for next[p] < end {
				n := min(max(1, d.cut()), end-next[p])
				queues[p] = append(queues[p], step{port: p, lo: next[p], hi: next[p] + n, enc: d.enc()})
				next[p] += n
			}
			queues[p] = append(queues[p], step{port: p, boundary: t})
		}
		out = append(out, d.merge(queues)...)
		out[len(out)-1].aligned = !d.ahead
	}
	return out
}

func (d *delivery) merge(queues [][]step) []step {
	var out []step
	for {
		var open []int
		for p, q := range queues {
			if len(q) > 0 {
				open = append(open, p)
			}
		}
		if len(open) == 0 {
			return out
		}
		p := open[0]
		if d.mix != nil {
			p = open[d.mix.IntN(len(open))]
		}
		out = append(out, queues[p][0])
		queues[p] = queues[p][1:]
	}
}

// driver feeds one instance and keeps what it emits, one line a row and port.
type driver struct {
	plan     *op.Plan
	op       op.Operator
	streams  []*tuple.Batch
	lag      int64
	bounds   []tuple.Time // per input
	promised tuple.Time   // last boundary returned
	last     []tuple.Time // per output the stime of the last row
	out      []strings.Builder
	rows     int
	maxBytes int64
	err      error
}

func newDriver(p *op.Plan, o op.Operator, streams []*tuple.Batch, lag int64) *driver {
	d := &driver{plan: p, op: o, streams: streams, lag: lag, promised: tuple.MinTime}
	d.bounds = make([]tuple.Time, len(streams))
	for i := range d.bounds {
		d.bounds[i] = tuple.MinTime
	}
	d.last = make([]tuple.Time, len(p.Ports))
	for i := range d.last {
		d.last[i] = tuple.MinTime
	}
	d.out = make([]strings.Builder, len(p.Ports))
	return d
}

// twin returns a driver for another instance that goes on from where d stands.
func (d *driver) twin(o op.Operator) *driver {
	t := newDriver(d.plan, o, d.streams, d.lag)
	copy(t.bounds, d.bounds)
	copy(t.last, d.last)
	t.promised = d.promised
	for i := range d.out {
		t.out[i].WriteString(d.out[i].String())
	}
	return t
}

// Batch takes what the instance emits and checks it against the contract.
func (d *driver) Batch(port int, b *tuple.Batch) error {
	if port < 0 || port >= len(d.plan.Ports) {
		return fmt.Errorf("row on port %d of %d", port, len(d.plan.Ports))
	}
	if !b.Schema.Equal(d.plan.Ports[port].Schema) {
		return fmt.Errorf("batch of schema %v on a port of %v", b.Schema, d.plan.Ports[port].Schema)
	}
	if err := b.Check(); err != nil {
		return err
	}
	if b.Rows() == 0 {
		return fmt.Errorf("empty batch emitted")
	}
	var line []byte
	for i := range b.Rows() {
		t := b.Time[b.Row(i)]
		if t < d.last[port] || t < d.promised {
			return fmt.Errorf("row at %v after one at %v and boundary %v", t, d.last[port], d.promised)
		}
		d.last[port] = t
		line = append(AppendRow(line[:0], b, i), '\n')
		d.out[port].Write(line)
		d.rows++
	}
	return nil
}

// run takes the steps in order, stopping at the first error.
func (d *driver) run(steps []step) {
	for _, s := range steps {
		if d.take(s); d.err != nil {
			d.err = fmt.Errorf("%w (at %v)", d.err, s)
			return
		}
	}
}

func (d *driver) take(s step) {
	if s.lo < s.hi {
		b := cut(d.streams[s.port], s.lo, s.hi, s.enc)
		before := b.Clone()
		if d.err = d.op.Process(s.port, b, d); d.err != nil {
			return
		}
		if !sameBatch(before, b) {
			d.err = fmt.Errorf("the operator changed its input")
		}
		poison(b)
		return
	}
	d.bounds[s.port] = s.boundary
	t, err := d.op.Boundary(s.port, s.boundary, d)
	if err != nil {
		d.err = err
		return
	}
	d.checkBoundary(t)
	d.maxBytes = max(d.maxBytes, d.op.StateBytes())
}

func (d *driver) checkBoundary(t tuple.Time) {
	least := tuple.MaxTime
	for _, b := range d.bounds {
		least = min(least, b)
	}
	switch {
	case t < d.promised:
		d.err = fmt.Errorf("boundary fell from %v to %v", d.promised, t)
	case least == tuple.MaxTime && t != tuple.MaxTime:
		d.err = fmt.Errorf("all inputs have ended, boundary is %v", t)
	case d.lag < math.MaxInt64 && t < least.Add(-d.lag):
		d.err = fmt.Errorf("boundary %v lags behind the inputs' %v by more than %dus", t, least, d.lag)
	}
	d.promised = t
}

func sameBatch(a, b *tuple.Batch) bool {
	if a.Rows() != b.Rows() {
		return false
	}
	for i := range a.Rows() {
		x, y := a.Row(i), b.Row(i)
		if a.Time[x] != b.Time[y] {
			return false
		}
		for j := range a.Cols {
			if a.Cols[j].Compare(x, &b.Cols[j], y) != 0 {
				return false
			}
		}
	}
	return true
}

// transcript returns everything emitted, port by port.
func (d *driver) transcript() string {
	var b strings.Builder
	for p := range d.out {
		fmt.Fprintf(&b, "port %d %s\n%s", p, d.plan.Ports[p].Name, d.out[p].String())
	}
	return b.String()
}
