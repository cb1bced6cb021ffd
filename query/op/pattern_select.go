package op

import (
	"slices"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

func (d *patternDecl) readSelect(r *spec.Reader, in Input, fields []tuple.Field) []tuple.Field {
	t := r.Table("select", false)
	if t == nil {
		return fields
	}
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		if e.Value.Kind != spec.String {
			r.P.Add(e.Value.Pos, t.KeyPath(e.Key), "", "expected a text such as count(step) or step.column, got %s", e.Value.Kind)
			continue
		}
		p, f, ok := d.readPick(r, e, in)
		if !ok {
			continue
		}
		f.Name = e.Key
		d.picks = append(d.picks, p)
		fields = append(fields, f)
	}
	return fields
}

// readPick reads count(step), first(step.column), last(step.column) or step.column.
func (d *patternDecl) readPick(r *spec.Reader, e *spec.Entry, in Input) (patternPick, tuple.Field, bool) {
	p := patternPick{}
	text := strings.TrimSpace(e.Value.Str)
	if call, inner, ok := strings.Cut(text, "("); ok && strings.HasSuffix(inner, ")") {
		text = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
		switch call = strings.ToLower(strings.TrimSpace(call)); call {
		case "count":
			p.count = true
		case "first":
			p.first = true
		case "last":
		default:
			r.P.Add(e.Value.Pos, r.T.KeyPath("select."+e.Key), spec.DidYouMean(call, []string{"count", "first", "last"}), "no function `%s` of a step", call)
			return p, tuple.Field{}, false
		}
	}
	step, column, dotted := strings.Cut(text, ".")
	var names []string
	p.step = -1
	for i, s := range d.steps {
		if s.name != "" && !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
		if s.name == step {
			p.step = i
		}
	}
	if p.step < 0 {
		r.P.Add(e.Value.Pos, r.T.KeyPath("select."+e.Key), spec.DidYouMean(step, names), "no step `%s`", step)
		return p, tuple.Field{}, false
	}
	if p.count {
		p.typ = tuple.Of(tuple.Int64)
		return p, tuple.Field{Type: p.typ}, !dotted || d.noColumn(r, e)
	}
	c, ok := columnNamed(r, "select."+e.Key, e.Value.Pos, column, in)
	if !ok {
		return p, tuple.Field{}, false
	}
	f := in.Schema.Field(c)
	if f.Type.Kind == tuple.List {
		r.P.Add(e.Value.Pos, r.T.KeyPath("select."+e.Key), "", "`%s` is %v; lists cannot be selected", column, f.Type)
		return p, f, false
	}
	p.column, p.typ = c, f.Type
	return p, f, true
}

func (d *patternDecl) noColumn(r *spec.Reader, e *spec.Entry) bool {
	r.P.Add(e.Value.Pos, r.T.KeyPath("select."+e.Key), "as in count(step)", "count goes over the rows of a step, not over a column")
	return false
}
