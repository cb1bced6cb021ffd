package op

import (
	"fmt"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// lookupKind declares lookup: the rows of a stream beside the entries of a table.
//
//	input = "conns"
//	table = "asns"                 # an operator of kind table
//	on = { prefix = "src" }        # the table's key columns, each with the stream's column
//	keep = "matched"               # or "unmatched", "all"
//	as_of = "event"                # the entry in force at the row's stime; a version counts from its own stime on
//
// With as_of = "latest" rows wait until the table has ended, and then all see its last versions, whatever their times:
// for tables from files. A null never matches. Results are the stream's columns, then, but for "unmatched", the table's
// columns that are not its key.
func lookupKind() Kind {
	return Kind{Name: "lookup", MinInputs: 2, MaxInputs: 2, TableKey: "table", Build: buildLookup}
}

// lookupDecl is a checked declaration.
type lookupDecl struct {
	schema *tuple.Schema
	stream *tuple.Schema
	table  *tuple.Schema
	t      *Table
	on     []int // columns of the stream, in the order of the table's key
	key    []int // columns of the table
	values []int // the table's other columns
	keep   string
	latest bool
}

const (
	keepMatched   = "matched"
	keepUnmatched = "unmatched"
	keepAll       = "all"
)

func buildLookup(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	r.Value("table", false, spec.String)
	d := &lookupDecl{stream: in[0].Schema, table: in[1].Schema, t: in[1].Table}
	d.keep = r.OneOf("keep", keepMatched, keepMatched, keepUnmatched, keepAll)
	d.latest = r.OneOf("as_of", "event", "event", "latest") == "latest"
	if d.t == nil {
		r.Errorf("table", "put an operator of kind table over it", "`%s` is not a table", in[1].Name)
		know(r, "on")
		return nil
	}
	d.readKey(r, in)
	d.layOut(r, in)
	if before.more(r) {
		return nil
	}
	p := &Plan{
		Kind:        "lookup",
		Ports:       []Port{{Schema: d.schema}},
		Convergence: Divergent,
		Span:        -1,
		State:       d.stateText(),
		Blocking:    true,
		Reads:       [][]string{nil, nil},
		Detail:      d.detail(in),
		New:         func() Operator { return newLookup(d) },
	}
	if d.t.TTL > 0 && !d.latest {
		p.Convergence, p.Span = Convergent, d.t.TTL
	}
	return p
}

func (d *lookupDecl) stateText() string {
	switch {
	case d.latest:
		return "the table's entries; rows until the table has ended"
	case d.t.TTL > 0:
		return "entries of the last " + spanText(d.t.TTL)
	}
	return fmt.Sprintf("%d entries", d.t.Limit)
}

func (d *lookupDecl) detail(in []Input) string {
	pairs := make([]string, len(d.on))
	for i := range d.on {
		pairs[i] = fmt.Sprintf("%s = %s", d.table.Field(d.key[i]).Name, d.stream.Field(d.on[i]).Name)
	}
	as := "in force at the row's time"
	if d.latest {
		as = "latest"
	}
	return fmt.Sprintf("%s rows of `%s` on %s (%s), %s", d.keep, in[1].Name, strings.Join(pairs, ", "), d.t.Match, as)
}

// readKey reads on: which of the stream's columns stand for the table's key.
func (d *lookupDecl) readKey(r *spec.Reader, in []Input) {
	on := r.Value("on", true, spec.TableKind, spec.Array, spec.String)
	if on == nil {
		return
	}
	byKey := map[string]*spec.Value{}
	if on.Kind == spec.TableKind {
		for _, e := range on.Table.Entries {
			on.Table.Lookup(e.Key)
			if e.Value.Kind != spec.String {
				r.P.Add(e.Value.Pos, on.Table.KeyPath(e.Key), "", "expected the name of a column of `%s`, got %s", in[0].Name, e.Value.Kind)
				continue
			}
			d.checkKeyName(r, e.Pos, e.Key, in)
			byKey[e.Key] = e.Value
		}
	} else {
		for _, v := range r.Strings("on", true) {
			d.checkKeyName(r, v.Pos, v.Str, in)
			byKey[v.Str] = v
		}
	}
	for _, name := range d.t.Key {
		v := byKey[name]
		if v == nil {
			r.Errorf("on", "", "the table `%s` is keyed by %s; `%s` is missing", in[1].Name, strings.Join(d.t.Key, ", "), name)
			continue
		}
		d.addKey(r, v, name, in)
	}
}

func (d *lookupDecl) checkKeyName(r *spec.Reader, pos spec.Pos, name string, in []Input) {
	for _, k := range d.t.Key {
		if k == name {
			return
		}
	}
	r.P.Add(pos, r.T.KeyPath("on"), spec.DidYouMean(name, d.t.Key), "`%s` is not a key of the table `%s`", name, in[1].Name)
}

func (d *lookupDecl) addKey(r *spec.Reader, v *spec.Value, name string, in []Input) {
	col, ok := columnAt(r, "on", v, in[0])
	key, known := d.table.Index(name)
	if !ok || !known {
		return
	}
	f, k := d.stream.Field(col), d.table.Field(key)
	if d.t.Match == matchPrefix {
		if f.Type.Kind != tuple.IP || f.Form == tuple.Hashed || f.Form == tuple.Pseudonym {
			r.P.Add(v.Pos, r.T.KeyPath("on"), "", "the longest prefix is looked up for an ip; `%s` is %v %s", f.Name, f.Type, formText(f))
		}
	} else if msg, hint := comparable(f, k); msg != "" {
		r.P.Add(v.Pos, r.T.KeyPath("on"), hint, "`%s` of `%s` and `%s` of `%s` cannot be equal: %s", f.Name, in[0].Name, k.Name, in[1].Name, msg)
	}
	d.on, d.key = append(d.on, col), append(d.key, key)
}

// layOut makes the schema of the result.
func (d *lookupDecl) layOut(r *spec.Reader, in []Input) {
	fields := append([]tuple.Field(nil), d.stream.Fields()...)
	for i, f := range d.table.Fields() {
		if d.keep == keepUnmatched || contains(d.key, i) {
			continue
		}
		if _, both := d.stream.Index(f.Name); both {
			r.Errorf("table", "rename one with a map", "both `%s` and `%s` have a column `%s`", in[0].Name, in[1].Name, f.Name)
			continue
		}
		d.values = append(d.values, i)
		fields = append(fields, f)
	}
	if s, err := tuple.NewSchema(fields...); err == nil {
		d.schema = s
	} else {
		r.Errorf("table", "", "%v", err)
	}
}
