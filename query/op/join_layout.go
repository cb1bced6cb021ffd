package op

import (
	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// sideColumn is a column of one side of a join. A column of a key may be read from either side, whichever row is there.
type sideColumn struct {
	side   int
	column int
	key    int // index among the keys, or -1
}

// pairSchema is what expressions about a pair see: every column as left.x or right.x, and by its bare name where that
// is a key or on one side only.
type pairSchema struct {
	schema *tuple.Schema
	from   []sideColumn // per field
}

func newPairSchema(d *joinDecl) *pairSchema {
	p := &pairSchema{}
	var fields []tuple.Field
	taken := map[string]bool{}
	add := func(name string, from sideColumn) {
		f := d.in[from.side].Field(from.column)
		if taken[name] {
			return
		}
		taken[name] = true
		f.Name = name
		fields = append(fields, f)
		p.from = append(p.from, from)
	}
	for i, c := range d.keys[0] {
		add(d.in[0].Field(c).Name, sideColumn{column: c, key: i})
	}
	for side, prefix := range []string{"left.", "right."} {
		other := d.in[1-side]
		for c, f := range d.in[side].Fields() {
			from := sideColumn{side: side, column: c, key: -1}
			if _, both := other.Index(f.Name); !both {
				add(f.Name, from)
			}
			add(prefix+f.Name, from)
		}
	}
	p.schema = tuple.MustSchema(fields...)
	return p
}

// joinLayout is the result of a join: columns of the sides, and, where the declaration computes, expressions over
// pairs.
type joinLayout struct {
	schema  *tuple.Schema
	sources []sideColumn    // columns gathered; as many as the schema has where nothing is computed
	compute []*expr.Program // per column of the result; nil where it is the pair's column `pick`
	pick    []int           // per column of the result: place in sources, where compute is nil
	pairCol []int           // per source: field of the pair schema
}

func (l *joinLayout) computed() bool { return l.pairCol != nil }

func readJoinLayout(r *spec.Reader, d *joinDecl, in []Input) *joinLayout {
	b := &layoutBuilder{r: r, d: d, in: in, l: &joinLayout{}}
	oneSided := d.typ == semiJoin || d.typ == antiJoin
	columns := r.Table("columns", false)
	switch {
	case columns == nil && oneSided:
		for c := range in[0].Schema.Fields() {
			b.source(in[0].Schema.Field(c), sideColumn{column: c, key: -1}, r.T.Pos)
		}
	case columns == nil:
		b.keyColumns()
		b.otherColumns(0)
		b.otherColumns(1)
	default:
		b.keyColumns()
		b.declared(columns, oneSided)
	}
	return b.finish()
}

type layoutBuilder struct {
	r      *spec.Reader
	d      *joinDecl
	in     []Input
	l      *joinLayout
	fields []tuple.Field
	texts  []*expr.Program // per field; nil for a source
}

func (b *layoutBuilder) source(f tuple.Field, from sideColumn, pos spec.Pos) {
	b.field(f, nil, pos)
	b.l.pick = append(b.l.pick, len(b.l.sources))
	b.l.sources = append(b.l.sources, from)
}

func (b *layoutBuilder) field(f tuple.Field, text *expr.Program, pos spec.Pos) {
	for _, g := range b.fields {
		if g.Name == f.Name {
			b.r.P.Add(pos, b.r.T.KeyPath("columns"), "choose and name the columns: columns = { "+f.Name+" = \"left."+f.Name+"\", … }",
				"the result would have two columns named `%s`", f.Name)
			return
		}
	}
	b.fields = append(b.fields, f)
	b.texts = append(b.texts, text)
}

func (b *layoutBuilder) keyColumns() {
	for i, c := range b.d.keys[0] {
		b.source(b.d.in[0].Field(c), sideColumn{column: c, key: i}, b.r.T.Pos)
	}
}

func (b *layoutBuilder) otherColumns(side int) {
	for c, f := range b.d.in[side].Fields() {
		if !contains(b.d.keys[side], c) {
			b.source(f, sideColumn{side: side, column: c, key: -1}, b.r.T.Pos)
		}
	}
}

func (b *layoutBuilder) declared(t *spec.Table, oneSided bool) {
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		p := compileText(b.r, "columns."+e.Key, e.Value, b.d.pair.schema)
		if p == nil {
			continue
		}
		for _, c := range p.Columns() {
			if oneSided && b.d.pair.from[c].side == 1 {
				b.r.P.Add(e.Value.Pos, b.r.T.KeyPath("columns."+e.Key), "use type = \"inner\" or \"left\"",
					"a %s join has no columns of `%s`", joinTypeNames[b.d.typ], b.in[1].Name)
			}
		}
		f := tuple.Field{Name: e.Key, Type: p.Type()}
		if c, ok := p.Column(); ok {
			f = b.d.pair.schema.Field(c)
			f.Name = e.Key
			b.source(f, b.d.pair.from[c], e.Pos)
			continue
		}
		b.field(f, p, e.Pos)
		b.l.pick = append(b.l.pick, -1)
	}
}

// finish turns the layout into one over pairs when something is computed: the sources are then fields of pairs.
func (b *layoutBuilder) finish() *joinLayout {
	l := b.l
	schema, err := tuple.NewSchema(b.fields...)
	if err != nil {
		b.r.Errorf("columns", "", "%v", err)
		return l
	}
	l.schema = schema
	l.compute = b.texts
	for _, p := range b.texts {
		if p != nil {
			b.overPairs()
			break
		}
	}
	return l
}

func (b *layoutBuilder) overPairs() {
	l, pair := b.l, b.d.pair
	place := map[int]int{} // pair field -> place in sources
	var sources []sideColumn
	use := func(field int) int {
		at, ok := place[field]
		if !ok {
			at = len(sources)
			place[field] = at
			sources = append(sources, pair.from[field])
			l.pairCol = append(l.pairCol, field)
		}
		return at
	}
	for i, p := range l.compute {
		if p == nil {
			l.pick[i] = use(pair.fieldOf(l.sources[l.pick[i]]))
			continue
		}
		for _, c := range p.Columns() {
			use(c)
		}
	}
	l.sources = sources
}

func (p *pairSchema) fieldOf(from sideColumn) int {
	for i, f := range p.from {
		if f == from {
			return i
		}
	}
	return -1
}
