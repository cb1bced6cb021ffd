package op

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// unionKind declares union: streams of one schema merged in order of (stime, place among the inputs, arrival).
//
//	inputs = ["north/conns", "south/conns"]
//	origin = "org"        # adds a column with the name of the input that a row came from
func unionKind() Kind {
	return Kind{Name: "union", MinInputs: 1, MaxInputs: -1, Build: buildUnion}
}

func buildUnion(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	schema := in[0].Schema
	for _, other := range in[1:] {
		if msg := schemaDifference(schema, other.Schema); msg != "" {
			r.Errorf("inputs", "put a map before it that gives the same columns in the same order",
				"`%s` and `%s` differ: %s", in[0].Name, other.Name, msg)
		}
	}
	origin := r.Value("origin", false, spec.String)
	if origin != nil {
		s, err := tuple.NewSchema(append(append([]tuple.Field(nil), schema.Fields()...),
			tuple.Field{Name: origin.Str, Type: tuple.Of(tuple.String)})...)
		if err != nil {
			r.Errorf("origin", "choose another name", "%v", err)
		}
		schema = s
	}
	if before.more(r) {
		return nil
	}
	p := &Plan{
		Kind:          "union",
		Ports:         []Port{{Schema: schema}},
		RestoresOrder: false,
		Convergence:   Stateless,
		State:         "rows of the inputs that are ahead of the slowest",
		Reads:         make([][]string, len(in)),
		Detail:        fmt.Sprintf("%d inputs", len(in)),
	}
	schemas := make([]*tuple.Schema, len(in))
	var names [][]byte
	for i := range in {
		schemas[i] = in[i].Schema
		if origin != nil {
			names = append(names, []byte(in[i].Name))
		}
	}
	if origin != nil {
		p.Detail += ", origin " + origin.Str
	}
	p.New = func() Operator {
		return &union{align: newAligner(schemas...), origin: names, rows: newAssembly(schema)}
	}
	return p
}

// schemaDifference says how two schemas differ, "" if they do not.
func schemaDifference(a, b *tuple.Schema) string {
	if a.Equal(b) {
		return ""
	}
	if a.Len() != b.Len() {
		return fmt.Sprintf("%d and %d columns", a.Len(), b.Len())
	}
	for i := range a.Len() {
		x, y := a.Field(i), b.Field(i)
		switch {
		case x.Name != y.Name:
			return fmt.Sprintf("column %d is `%s` in one and `%s` in the other", i+1, x.Name, y.Name)
		case x.Type != y.Type:
			return fmt.Sprintf("column `%s` is %v in one and %v in the other", x.Name, x.Type, y.Type)
		case x != y:
			return fmt.Sprintf("column `%s` is %s in one and %s in the other", x.Name, formText(x), formText(y))
		}
	}
	return ""
}

func formText(f tuple.Field) string {
	if f.Key == "" {
		return f.Form.String()
	}
	return fmt.Sprintf("%s under the key `%s`", f.Form, f.Key)
}

type union struct {
	align    *aligner
	origin   [][]byte // per port the value of the added column; nil without one
	runs     []rowRun // scratch
	rows     *assembly
	counters Counters
}

func (u *union) Process(in int, b *tuple.Batch, _ Out) error {
	u.counters.RowsIn += uint64(b.Rows())
	u.align.logs[in].add(b)
	return nil
}

func (u *union) Boundary(in int, t tuple.Time, out Out) (tuple.Time, error) {
	limit := u.align.boundary(in, t)
	for more := true; more; {
		more = u.collect(limit)
		u.take()
		if !more || u.rows.full() {
			u.counters.RowsOut += uint64(u.rows.rows())
			if err := u.rows.flush(0, out); err != nil {
				return 0, err
			}
		}
	}
	u.align.dropDone()
	return limit, nil
}

// collect lists the next runs of merged rows, up to some thousand rows, and reports whether there are more. Runs
// are short where inputs alternate, so the columns are filled one after the other from all of them.
func (u *union) collect(limit tuple.Time) bool {
	u.runs = u.runs[:0]
	for rows := 0; rows < 2*assemblyStep; {
		port, b, lo, hi, ok := u.align.step(limit)
		if !ok {
			return false
		}
		u.runs = append(u.runs, rowRun{port: port, b: b, lo: lo, hi: hi})
		rows += hi - lo
	}
	return true
}

func (u *union) take() {
	columns := u.align.logs[0].schema.Len()
	for j := range columns {
		u.rows.takeRuns(j, u.runs)
	}
	for _, r := range u.runs {
		u.rows.b.Time = append(u.rows.b.Time, r.b.Time[r.lo:r.hi]...)
		if u.origin != nil {
			u.rows.text(columns, u.origin[r.port], r.hi-r.lo)
		}
	}
}

func (u *union) Snapshot(e *tuple.Encoder) { u.align.snapshot(e) }

func (u *union) Restore(d *tuple.Decoder) { u.align.restore(d) }

func (u *union) Fork() Operator {
	return &union{align: u.align.fork(), origin: u.origin, rows: newAssembly(u.rows.b.Schema)}
}

func (u *union) StateBytes() int64 { return u.align.bytes() }

func (u *union) Counters() Counters { return u.counters }
