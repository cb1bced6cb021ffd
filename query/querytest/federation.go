package querytest

import (
	"fmt"
	"strings"

	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// federation runs every fragment of a plan in this process.
type federation struct {
	plan      *query.Plan
	fragments []*fragment
	// numbered are the outputs, by the name of their stream.
	numbered map[string]*sunion.SOutput
	consumed map[string]*sunion.SOutput // of sources, which number their rows the same way
	lines    map[string][]string        // results by output
	variant  Variant
}

// Variant is one way to run the same feed.
type Variant struct {
	Name string
	// BatchRows cuts the sources' rows into batches of so many; 0 leaves them.
	BatchRows int
	// ByStream delivers all of one stream before the next.
	ByStream bool
	// Alone releases each SUnion as far as its own inputs reach, instead of all of a fragment together.
	Alone bool
	// Restart replaces every instance by one restored from its snapshot after each step; Fork by a fork.
	Restart bool
	Fork    bool
}

// Variants returns the ways to run a feed that must all give the same results.
func Variants() []Variant {
	return []Variant{
		{Name: "as given"},
		{Name: "batches of 1", BatchRows: 1},
		{Name: "batches of 7", BatchRows: 7},
		{Name: "stream by stream", ByStream: true, BatchRows: 3},
		{Name: "each SUnion alone", Alone: true, BatchRows: 2},
		{Name: "restarted after each step", Restart: true, BatchRows: 2},
		{Name: "forked after each step", Fork: true, BatchRows: 2},
	}
}

// fragment is one running fragment with its SUnions.
type fragment struct {
	plan     *query.FragmentPlan
	instance *query.Instance
	unions   []*sunion.SUnion
	out      *collector
}

// Run runs a feed through a plan and returns one line a result, output by output in order of name: output#id, the stime
// as a duration since 1970, and the columns. The boundary that each output reached comes last.
func Run(p *query.Plan, feed *Feed, v Variant) ([]string, error) {
	f, err := newFederation(p, v)
	if err != nil {
		return nil, err
	}
	for _, e := range feed.arranged(v) {
		if err := f.source(e); err != nil {
			return nil, err
		}
	}
	var all []string
	for _, o := range p.Outputs {
		all = append(all, f.lines[o.Output.Name]...)
	}
	return all, nil
}

func newFederation(p *query.Plan, v Variant) (*federation, error) {
	f := &federation{plan: p, numbered: map[string]*sunion.SOutput{}, consumed: map[string]*sunion.SOutput{},
		lines: map[string][]string{}, variant: v}
	for _, fp := range p.Fragments {
		fr := &fragment{plan: fp}
		fr.out = &collector{f: f, plan: fp}
		fr.instance = query.NewInstance(fp, fr.out)
		for _, u := range fp.Unions {
			su, err := sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: fp.Bucket, Unordered: u.Unordered})
			if err != nil {
				return nil, err
			}
			fr.unions = append(fr.unions, su)
		}
		f.fragments = append(f.fragments, fr)
	}
	return f, nil
}

// arranged returns the events as a variant delivers them.
func (f *Feed) arranged(v Variant) []event {
	var out []event
	add := func(e event) {
		if e.rows == nil || v.BatchRows == 0 {
			out = append(out, e)
			return
		}
		for lo := 0; lo < e.rows.Rows(); lo += v.BatchRows {
			out = append(out, event{stream: e.stream, rows: e.rows.Slice(lo, min(lo+v.BatchRows, e.rows.Rows()))})
		}
	}
	if !v.ByStream {
		for _, e := range f.events {
			add(e)
		}
		return out
	}
	for _, s := range f.diagram.Streams {
		for _, e := range f.events {
			if e.stream == s {
				add(e)
			}
		}
	}
	return out
}

// source numbers what a source sends and delivers it.
func (f *federation) source(e event) error {
	name := e.stream.StreamName(f.plan.Placement.Home.Org, f.plan.Diagram.Settings.Name)
	so := f.consumed[name]
	if so == nil {
		so = sunion.NewSOutput(1)
		f.consumed[name] = so
	}
	fr := so.Boundary(e.until, 0)
	if e.rows != nil {
		fr = so.Batch(e.rows)
	}
	if fr == nil {
		return nil
	}
	return f.deliver(name, fr)
}

// deliver hands a frame to every SUnion and every output that reads the stream.
func (f *federation) deliver(stream string, fr *tuple.Frame) error {
	f.print(stream, fr)
	for _, g := range f.fragments {
		if err := f.enter(g, stream, fr); err != nil {
			return err
		}
	}
	return nil
}

// enter puts a frame into the SUnions of a fragment and lets it go on.
func (f *federation) enter(g *fragment, stream string, fr *tuple.Frame) error {
	touched := false
	for u, up := range g.plan.Unions {
		for i, in := range up.Inputs {
			if g.plan.Inputs[in].Stream != stream {
				continue
			}
			touched = true
			if fr.Kind == tuple.Boundary {
				g.unions[u].Boundary(i, fr.Time)
			} else if err := g.unions[u].Insert(i, fr); err != nil {
				return err
			}
		}
	}
	if !touched {
		return nil
	}
	return f.advance(g)
}

// advance releases what is stable.
func (f *federation) advance(g *fragment) error {
	together := tuple.MaxTime
	for _, u := range g.unions {
		together = min(together, u.Stable())
	}
	moved := false
	for i, u := range g.unions {
		to := together
		if f.variant.Alone {
			to = u.Stable()
		}
		if to <= u.Released() {
			continue
		}
		moved = true
		if err := u.Release(to, func(b *tuple.Batch) error { return g.instance.Process(i, b) }); err != nil {
			return err
		}
		if err := g.instance.Boundary(i, to); err != nil {
			return err
		}
	}
	if moved && !f.variant.Alone {
		return f.replace(g)
	}
	return nil
}

// replace puts a copy in the place of an instance, as the variant says.
func (f *federation) replace(g *fragment) error {
	switch {
	case f.variant.Fork:
		old := g.instance
		g.instance = old.Fork(g.out)
		return disturb(g.plan, old.Fork(discard{}))
	case f.variant.Restart:
		var e, again tuple.Encoder
		g.instance.Snapshot(&e)
		restored, _, err := query.RestoreInstance(g.plan, g.out, tuple.NewDecoder(e.B), query.RestoreOptions{})
		if err != nil {
			return err
		}
		if restored.Snapshot(&again); string(e.B) != string(again.B) {
			return fmt.Errorf("fragment %s: a restored instance writes another snapshot", g.plan.Name)
		}
		g.instance = restored
	}
	return nil
}

// disturb drives a fork to its end, which must not touch the instance that it came from.
func disturb(p *query.FragmentPlan, i *query.Instance) error {
	for u := range p.Unions {
		if err := i.Boundary(u, tuple.MaxTime); err != nil {
			return err
		}
	}
	return nil
}

// collector numbers what a fragment emits and delivers it.
type collector struct {
	f    *federation
	plan *query.FragmentPlan
}

func (c *collector) output(i int) (string, *sunion.SOutput) {
	name := c.plan.Outputs[i].Stream
	so := c.f.numbered[name]
	if so == nil {
		so = sunion.NewSOutput(1)
		c.f.numbered[name] = so
	}
	return name, so
}

// Batch delivers results.
func (c *collector) Batch(i int, b *tuple.Batch) error {
	name, so := c.output(i)
	if fr := so.Batch(b); fr != nil {
		return c.f.deliver(name, fr)
	}
	return nil
}

// Boundary delivers a boundary.
func (c *collector) Boundary(i int, t tuple.Time) error {
	name, so := c.output(i)
	if fr := so.Boundary(t, 0); fr != nil {
		return c.f.deliver(name, fr)
	}
	return nil
}

// discard drops everything.
type discard struct{}

func (discard) Batch(int, *tuple.Batch) error  { return nil }
func (discard) Boundary(int, tuple.Time) error { return nil }

// print renders the rows of a stream that outputs read.
func (f *federation) print(stream string, fr *tuple.Frame) {
	if fr.Batch == nil {
		return
	}
	for _, o := range f.plan.Outputs {
		if o.Stream != stream {
			continue
		}
		for i := range fr.Batch.Rows() {
			f.lines[o.Output.Name] = append(f.lines[o.Output.Name], render(o.Output.Name, fr, i))
		}
	}
}

// render prints row i of a frame.
func render(output string, fr *tuple.Frame, i int) string {
	b := fr.Batch
	row := b.Row(i)
	id := fr.FirstID + uint64(i)
	if fr.IDs != nil {
		id = fr.IDs[i]
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%s#%d %s", output, id, tuple.AppendDuration(nil, int64(b.Time[row])))
	for c := range b.Cols {
		line.WriteString(" " + b.Schema.Field(c).Name + "=")
		if b.Cols[c].IsNull(row) {
			line.WriteString("-")
			continue
		}
		line.Write(b.Cols[c].AppendText(nil, row))
	}
	return line.String()
}
