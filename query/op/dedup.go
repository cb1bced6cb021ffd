package op

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// dedupKind declares dedup: a row passes unless one with the same key came less than a time before it.
//
//	by = ["id"]
//	within = "10m"
//
// Every row counts, also one that does not pass, so a key that never pauses for that long passes once; what is
// remembered then depends on the rows of that time alone.
func dedupKind() Kind {
	return Kind{Name: "dedup", MinInputs: 1, MaxInputs: 1, Build: buildDedup}
}

// distinctKind declares distinct: the different values of some columns (of all, if none are named), in a window or
// within a time, as dedup has it.
//
//	columns = ["src", "dport"]
//	window = "same"                # or within = "1h"
func distinctKind() Kind {
	return Kind{Name: "distinct", MinInputs: 1, MaxInputs: 1, Build: buildDistinct}
}

// dedupDecl is a checked declaration of either.
type dedupDecl struct {
	schema *tuple.Schema // of the result
	pass   []int         // columns of the input that make the result
	by     []int
	within int64
	limit  int64
}

func buildDedup(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &dedupDecl{schema: in[0].Schema, by: columnList(r, "by", true, in[0])}
	d.within = needTime(r, "within", "rows of all time would have to be remembered")
	d.limit = r.Int("limit", 0, 1, 1<<40)
	if before.more(r) {
		return nil
	}
	for i := range in[0].Schema.Len() {
		d.pass = append(d.pass, i)
	}
	p := d.plan("dedup", in[0].Schema)
	p.Reads = [][]string{nil}
	p.Detail = fmt.Sprintf("by %s within %s", listNames(in[0].Schema, d.by), spanText(d.within))
	return p
}

func buildDistinct(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &dedupDecl{by: columnList(r, "columns", false, in[0])}
	if len(d.by) == 0 {
		for i := range in[0].Schema.Len() {
			d.by = append(d.by, i)
		}
	}
	d.limit = r.Int("limit", 0, 1, 1<<40)
	time := ""
	if r.T.Has("window") {
		// Rows of one window have one stime: equal ones are those within a microsecond.
		r.OneOf("window", "same", "same")
		d.within, time = 1, "the same window"
		d.addWindow(r, in[0])
		if r.T.Has("within") {
			know(r, "within")
			r.Errorf("within", "keep one of them", "`window` and `within` exclude each other")
		}
	} else {
		d.within = needTime(r, "within", "the values of all time would have to be remembered")
		time = spanText(d.within)
	}
	d.pass = d.by
	if before.more(r) {
		return nil
	}
	var fields []tuple.Field
	for _, i := range d.pass {
		fields = append(fields, in[0].Schema.Field(i))
	}
	d.schema = tuple.MustSchema(fields...)
	p := d.plan("distinct", in[0].Schema)
	p.Reads = [][]string{namesOf(in[0].Schema, d.by)}
	p.Detail = fmt.Sprintf("%s within %s", listNames(in[0].Schema, d.by), time)
	if r.T.Has("window") {
		p.State = "values of one window"
		p.Detail = fmt.Sprintf("%s in %s", listNames(in[0].Schema, d.by[2:]), time)
	}
	return p
}

// addWindow puts the window before the columns.
func (d *dedupDecl) addWindow(r *spec.Reader, in Input) {
	start, end, ok := windowColumns(r, "window", in)
	if !ok {
		return
	}
	by := []int{start, end}
	for _, c := range d.by {
		if c != start && c != end {
			by = append(by, c)
		}
	}
	d.by = by
}

// needTime reads a duration that bounds the state.
func needTime(r *spec.Reader, key, otherwise string) int64 {
	if !r.T.Has(key) {
		r.P.Add(r.T.Pos, r.T.KeyPath(key), "for example "+key+" = \"10m\"", "the key `%s` is missing; without it %s", key, otherwise)
		return 0
	}
	return r.Duration(key, 0, 1, maxSpan)
}

func (d *dedupDecl) plan(kind string, in *tuple.Schema) *Plan {
	return &Plan{
		Kind:        kind,
		Ports:       []Port{{Schema: d.schema}},
		Convergence: Convergent,
		Span:        d.within,
		State:       "keys of the last " + spanText(d.within),
		New: func() Operator {
			o := &dedup{d: d, types: typesOf(in, d.by)}
			o.scratch()
			return o
		},
	}
}

type dedup struct {
	d        *dedupDecl
	types    []tuple.Type
	table    keyTable
	coder    keyCoder
	sel      []uint32
	out      tuple.Batch
	counters Counters
}

func (o *dedup) scratch() {
	o.coder.cols = o.d.by
	o.out = tuple.Batch{Schema: o.d.schema, Cols: make([]tuple.Column, len(o.d.pass))}
}

func (o *dedup) Process(_ int, b *tuple.Batch, out Out) error {
	o.sel = o.sel[:0]
	o.table.settle()
	for i := range b.Rows() {
		row := b.Row(i)
		t := b.Time[row]
		key := o.coder.code(b, row)
		slot, known := o.table.find(key)
		if !known {
			o.forget(t)
			o.table.insert(key, t)
			if o.d.limit > 0 && int64(o.table.count) > o.d.limit {
				return &LimitError{What: "different keys", Limit: o.d.limit}
			}
			o.sel = append(o.sel, uint32(row))
			continue
		}
		if t >= o.table.used(slot).Add(o.d.within) {
			o.sel = append(o.sel, uint32(row))
		}
		o.table.touch(slot, t)
	}
	o.counters.RowsIn += uint64(b.Rows())
	o.counters.RowsOut += uint64(len(o.sel))
	if len(o.sel) == 0 {
		return nil
	}
	o.out.Time, o.out.Sel = b.Time, o.sel
	for i, c := range o.d.pass {
		o.out.Cols[i] = b.Cols[c]
	}
	return out.Batch(0, &o.out)
}

// forget drops the keys that cannot suppress a row at t or later.
func (o *dedup) forget(t tuple.Time) {
	for s, ok := o.table.front(); ok && o.table.used(s).Add(o.d.within) <= t; s, ok = o.table.front() {
		o.table.remove(s)
	}
}

func (o *dedup) Boundary(_ int, t tuple.Time, _ Out) (tuple.Time, error) {
	o.forget(t)
	return t, nil
}

func (o *dedup) Snapshot(e *tuple.Encoder) { o.table.snapshot(e, func(uint32) {}) }

func (o *dedup) Restore(d *tuple.Decoder) { o.table.restore(d, o.types, func(uint32) {}) }

func (o *dedup) Fork() Operator {
	f := &dedup{d: o.d, types: o.types, table: o.table.fork()}
	f.scratch()
	return f
}

func (o *dedup) StateBytes() int64 { return o.table.bytes() }

func (o *dedup) Counters() Counters { return o.counters }
