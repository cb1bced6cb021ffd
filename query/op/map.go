package op

import (
	"fmt"
	"slices"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// mapKind declares map: columns kept, renamed and computed.
//
//	columns = { src = "src", bits = "bytes * 8" }
//	keep = ["*"]          # or the names of columns; they come before the computed ones
//
// With keep = ["*"] a computed column of a kept one's name takes its place.
func mapKind() Kind {
	return Kind{Name: "map", MinInputs: 1, MaxInputs: 1, Build: buildMap}
}

// mapColumn is one column of the result: a column of the input as it is, or an expression.
type mapColumn struct {
	field  tuple.Field
	source int // position in the input when compute is nil
	text   *expr.Program
}

func buildMap(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	cols, all := keptColumns(r, in[0])
	cols = computedColumns(r, in[0], cols, all)
	if len(cols) == 0 && !before.more(r) {
		r.Errorf("columns", "give `columns` or `keep`", "no column is left")
	}
	if before.more(r) {
		return nil
	}
	fields := make([]tuple.Field, len(cols))
	detail := make([]string, len(cols))
	var reads []int
	for i, c := range cols {
		fields[i] = c.field
		detail[i] = c.String(in[0].Schema)
		if c.text == nil {
			reads = append(reads, c.source)
		} else {
			reads = append(reads, c.text.Columns()...)
		}
	}
	schema, err := tuple.NewSchema(fields...)
	if err != nil {
		r.Errorf("columns", "", "%v", err)
		return nil
	}
	return &Plan{
		Kind:             "map",
		Ports:            []Port{{Schema: schema}},
		OrderInsensitive: true,
		Convergence:      Stateless,
		State:            "none",
		Reads:            [][]string{namesOf(in[0].Schema, reads)},
		Detail:           strings.Join(detail, ", "),
		New:              func() Operator { return newMapper(schema, cols) },
	}
}

// String prints the column as name = expression, or the bare name of one that is kept.
func (c mapColumn) String(in *tuple.Schema) string {
	text := ""
	if c.text != nil {
		text = c.text.String()
	} else if text = in.Field(c.source).Name; text == c.field.Name {
		return text
	}
	return fmt.Sprintf("%s = %s", c.field.Name, text)
}

func keptColumns(r *spec.Reader, in Input) (cols []mapColumn, all bool) {
	for _, v := range r.Strings("keep", false) {
		if v.Str == "*" {
			all = true
		}
	}
	if all {
		for i, f := range in.Schema.Fields() {
			cols = append(cols, mapColumn{field: f, source: i})
		}
		return cols, true
	}
	if !r.T.Has("keep") {
		return nil, false
	}
	for _, i := range columnList(r, "keep", true, in) {
		cols = append(cols, mapColumn{field: in.Schema.Field(i), source: i})
	}
	return cols, false
}

func computedColumns(r *spec.Reader, in Input, cols []mapColumn, replace bool) []mapColumn {
	t := r.Table("columns", !r.T.Has("keep"))
	if t == nil {
		return cols
	}
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		key := "columns." + e.Key
		p := compileOver(r, key, e.Value, in)
		if p == nil {
			continue
		}
		c := mapColumn{field: tuple.Field{Name: e.Key, Type: p.Type()}, text: p}
		if i, ok := p.Column(); ok {
			c.field.Form, c.field.Key = in.Schema.Field(i).Form, in.Schema.Field(i).Key
			c.source, c.text = i, nil
		}
		at := columnPlace(cols, e.Key)
		switch {
		case at < 0:
			cols = append(cols, c)
		case replace:
			cols[at] = c
		default:
			r.P.Add(e.Pos, r.T.KeyPath(key), "rename it, or leave it out of `keep`", "the column `%s` is both kept and computed", e.Key)
		}
	}
	return cols
}

func columnPlace(cols []mapColumn, name string) int {
	for i, c := range cols {
		if c.field.Name == name {
			return i
		}
	}
	return -1
}

// mapper aliases the columns it keeps. Computed columns are dense, so beside them the kept ones are gathered when the
// input has a selection.
type mapper struct {
	stateless
	cols   []mapColumn
	evals  []*expr.Eval // nil where a column is kept
	gather bool         // there is a computed column
	out    tuple.Batch
	kept   []tuple.Column // buffers of gathered columns
	time   []tuple.Time
}

func newMapper(s *tuple.Schema, cols []mapColumn) *mapper {
	m := &mapper{cols: cols, evals: make([]*expr.Eval, len(cols)), kept: make([]tuple.Column, len(cols))}
	m.out = tuple.Batch{Schema: s, Cols: make([]tuple.Column, len(cols))}
	for i, c := range cols {
		if c.text != nil {
			m.evals[i] = c.text.NewEval()
			m.gather = true
		}
	}
	return m
}

func (m *mapper) Process(_ int, b *tuple.Batch, out Out) error {
	n := b.Rows()
	m.count(n, n)
	if n == 0 {
		return nil
	}
	m.out.Ordered = b.Ordered
	if m.gather && b.Sel != nil {
		m.dense(b)
	} else {
		m.alias(b)
	}
	return out.Batch(0, &m.out)
}

func (m *mapper) alias(b *tuple.Batch) {
	m.out.Time, m.out.Sel = b.Time, b.Sel
	for i, c := range m.cols {
		if c.text == nil {
			m.out.Cols[i] = b.Cols[c.source]
		} else {
			m.out.Cols[i] = *m.evals[i].Eval(b)
		}
	}
}

func (m *mapper) dense(b *tuple.Batch) {
	m.time = slices.Grow(m.time[:0], len(b.Sel))[:len(b.Sel)]
	for i, row := range b.Sel {
		m.time[i] = b.Time[row]
	}
	m.out.Time, m.out.Sel = m.time, nil
	for i, c := range m.cols {
		if c.text != nil {
			m.out.Cols[i] = *m.evals[i].Eval(b)
			continue
		}
		// The dictionary is taken over as it is, so the buffer must not remember the last batch's.
		m.kept[i].Reset(m.cols[i].field.Type)
		b.Cols[c.source].Gather(&m.kept[i], b.Sel)
		m.out.Cols[i] = m.kept[i]
	}
}

func (m *mapper) Fork() Operator { return newMapper(m.out.Schema, m.cols) }

func (m *mapper) Counters() Counters {
	c := m.counters
	for _, e := range m.evals {
		c = evalCounters(c, e)
	}
	return c
}
