package bind

import (
	"maps"
	"path/filepath"
	"slices"
	"sort"

	"fednode/node/connect"
	"fednode/query"
	"fednode/query/spec"
)

// Source is a declared source, ready to be opened.
type Source struct {
	Plan *connect.SourcePlan
	// Shape is what the source delivers.
	Shape *connect.Stream
}

// Sink is a declared sink. Its schema is known once the file has been read.
type Sink struct {
	Plan  *connect.SinkPlan
	shape *connect.SinkStream
}

// New makes the sink for the results of an output. name is the one it is known by in the federation, "" if there is none.
func (s *Sink) New(o *query.Output, name string, bounded bool, env connect.Env) connect.Sink {
	s.shape.Schema, s.shape.Bounded, s.shape.Sink = o.Input.Schema(), bounded, name
	return s.Plan.New(env)
}

// Connectors checks declarations while a file is read, and keeps their plans by name.
type Connectors struct {
	kinds   []connect.Kind
	Sources map[string]Source
	Sinks   map[string]*Sink
	// Databases are those that sinks may write to, by name; nil where no node is known.
	Databases map[string]connect.Database
}

var _ query.Connectors = (*Connectors)(nil)

// New returns connectors of the given kinds.
func New(kinds []connect.Kind) *Connectors {
	return &Connectors{kinds: kinds, Sources: make(map[string]Source), Sinks: make(map[string]*Sink)}
}

func (c *Connectors) kind(name string) *connect.Kind {
	for i := range c.kinds {
		if c.kinds[i].Name == name {
			return &c.kinds[i]
		}
	}
	return nil
}

// SourceNames lists the connectors that streams can have.
func (c *Connectors) SourceNames() []string {
	return c.names(func(k *connect.Kind) bool { return k.Source != nil })
}

// SinkNames lists the connectors that outputs can have.
func (c *Connectors) SinkNames() []string {
	return c.names(func(k *connect.Kind) bool { return k.Sink != nil })
}

func (c *Connectors) names(is func(*connect.Kind) bool) []string {
	var out []string
	for i := range c.kinds {
		if is(&c.kinds[i]) {
			out = append(out, c.kinds[i].Name)
		}
	}
	sort.Strings(out)
	return out
}

// Source reads the connector's own keys of a stream.
func (c *Connectors) Source(s *query.Stream, r *spec.Reader) query.Traits {
	k := c.kind(s.Connector)
	shape := &connect.Stream{Name: s.Name, TimeColumn: -1, Schema: s.Schema}
	if s.Schema != nil {
		shape = c.shape(s, r)
	}
	if shape == nil {
		return query.Traits{}
	}
	plan := k.Source(r, shape)
	if plan == nil {
		return query.Traits{}
	}
	c.Sources[s.Name] = Source{Plan: plan, Shape: shape}
	t := query.Traits{Bounded: plan.Bounded, Replayed: !plan.Live && !plan.Bounded, Rate: plan.Rate}
	if plan.Disordered {
		t.LateBy = "a record is written when what it tells has ended, with the time it began"
	}
	return t
}

// shape turns the declared columns into the connector's form.
func (c *Connectors) shape(s *query.Stream, r *spec.Reader) *connect.Stream {
	columns := make([]connect.ColumnSpec, len(s.Columns))
	for i, col := range s.Columns {
		columns[i] = connect.ColumnSpec{
			Name: col.Name, Type: s.Schema.Field(i).Type, Field: col.Field, Unit: unitName(col.Unit), Layout: col.Layout, Zone: col.Zone, From: col.From,
		}
		if len(col.From) > 0 {
			columns[i].Field = ""
		}
	}
	shape, errs := connect.NewStream(s.Name, columns, "")
	for _, e := range errs {
		r.Errorf("columns", e.Hint, "%s: %s", e.Column, e.Msg)
	}
	return shape
}

func unitName(nanos int64) string {
	switch nanos {
	case 1:
		return "ns"
	case 1000:
		return "us"
	case 1_000_000:
		return "ms"
	case 1_000_000_000:
		return "s"
	}
	return ""
}

// Finish sets what is only known once the whole file has been read: which column is each stream's time.
func (c *Connectors) Finish(d *query.Diagram) {
	for _, s := range d.Streams {
		if src, ok := c.Sources[s.Name]; ok {
			src.Shape.TimeColumn = s.Time
		}
	}
}

// Sink reads the connector's own keys of an output.
func (c *Connectors) Sink(o *query.Output, r *spec.Reader) {
	shape := &connect.SinkStream{Name: o.Name, Databases: c.Databases}
	if o.Input != (query.Ref{}) {
		shape.Schema = o.Input.Schema()
	}
	if plan := c.kind(o.Connector).Sink(r, shape); plan != nil {
		if other := c.writing(plan.Path); other != "" {
			r.Errorf("path", "give each output a file of its own", "outputs.%s writes %s too", other, plan.Path)
		}
		c.Sinks[o.Name] = &Sink{Plan: plan, shape: shape}
	}
}

// writing returns the first output, by name, that writes a file already. Standard output may be shared.
func (c *Connectors) writing(path string) string {
	if path == "" || path == "-" {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sinks)) {
		if filepath.Clean(path) == filepath.Clean(c.Sinks[name].Plan.Path) {
			return name
		}
	}
	return ""
}
