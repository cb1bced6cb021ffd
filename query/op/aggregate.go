package op

import (
	"strings"

	"fednode/query/expr"
	"fednode/query/op/aggfn"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// aggregateKind declares aggregate: functions over the rows of each group in each window.
//
//	window = { tumbling = "60s" }
//	group_by = ["src"]
//	aggregates = { conns = "count()", ports = "count_distinct(dport)" }
//	having = "conns > 100"
//
// A result has window_start, window_end, the group columns and the aggregates; its stime is the window's end − 1 µs, of a
// count window that of its last row. Results are ordered by stime, window_start and group columns.
func aggregateKind() Kind {
	return Kind{Name: "aggregate", MinInputs: 1, MaxInputs: 1, Build: buildAggregate}
}

// aggregation is a checked declaration: what all instances share.
type aggregation struct {
	window window
	schema *tuple.Schema // of the output
	keys   []groupKey
	calls  []call
	having *expr.Program

	empty  bool  // emit_empty: groups known for less than ttl get a row in windows without one
	ttl    int64 // 0 if none was declared
	limits Limits
}

// groupKey is one group column.
type groupKey struct {
	field tuple.Field
	value *expr.Program
}

// call is one aggregate.
type call struct {
	name string
	text string
	fn   aggfn.Func
	arg  *expr.Program // nil for count()
}

// Limits bound what an instance may hold; 0 is no limit.
type Limits struct {
	Groups     int64
	StateBytes int64
}

// Limited is implemented by operators whose limits can be set when a fragment starts; a declared limit stays if it is
// lower.
type Limited interface{ SetLimits(Limits) }

func buildAggregate(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	a := &aggregation{}
	w, _ := readWindow(r)
	a.window = w
	a.keys = readGroupBy(r, in[0])
	a.calls = readAggregates(r, in[0])
	a.ttl = r.Duration("ttl", 0, 1, maxWindow)
	a.limits.Groups = r.Int("limit", 0, 1, 1<<30)
	a.readEmpty(r)
	if !before.more(r) {
		a.checkBounded(r)
		a.schema = a.outputSchema(r)
	}
	if a.schema == nil {
		r.Value("having", false, spec.String)
		return nil
	}
	a.having = condition(r, "having", false, a.schema)
	if before.more(r) {
		return nil
	}
	return a.plan(in[0])
}

// checkBounded refuses groups that nothing ever ends.
func (a *aggregation) checkBounded(r *spec.Reader) {
	bounded := a.ttl > 0 || a.limits.Groups > 0 || len(a.keys) == 0
	if a.window.kind == countWindow && !bounded {
		r.Errorf("window", "add `ttl`, after which an idle group is forgotten, or `limit`, the most groups there may be",
			"a group waits for its %d rows for ever, so the state would grow without bound", a.window.count)
	}
	if a.empty && !bounded {
		r.Errorf("emit_empty", "add `ttl`, after which a group that stays away is forgotten, or `limit`",
			"groups would be known for ever, so the state would grow without bound")
	}
}

// readEmpty reads emit_empty.
func (a *aggregation) readEmpty(r *spec.Reader) {
	v := r.Value("emit_empty", false, spec.Bool, spec.TableKind)
	switch {
	case v == nil:
	case v.Kind == spec.TableKind:
		r.Errorf("emit_empty", "write `emit_empty = true` with `ttl` for the groups seen before",
			"an aggregate cannot take its groups from a table here")
	case v.Bool && a.window.kind != gridWindow:
		r.Errorf("emit_empty", "", "only tumbling and sliding windows can be empty")
	default:
		a.empty = v.Bool
	}
}

func (a *aggregation) outputSchema(r *spec.Reader) *tuple.Schema {
	stamp := tuple.Of(tuple.Timestamp)
	fields := []tuple.Field{{Name: windowStart, Type: stamp}, {Name: windowEnd, Type: stamp}}
	for _, k := range a.keys {
		fields = append(fields, k.field)
	}
	for _, c := range a.calls {
		fields = append(fields, tuple.Field{Name: c.name, Type: c.fn.Type})
	}
	s, err := tuple.NewSchema(fields...)
	if err != nil {
		r.Errorf("aggregates", "give one of them another name", "%v", err)
		return nil
	}
	return s
}

// orderInsensitive reports whether results depend on the rows alone, not on their order. A session with a longest length
// is cut where the rows before say, and a count window by counting.
func (a *aggregation) orderInsensitive() bool {
	if a.window.kind == countWindow || a.window.kind == sessionWindow && a.window.max > 0 {
		return false
	}
	for _, c := range a.calls {
		if !c.fn.OrderInsensitive {
			return false
		}
	}
	return true
}

func (a *aggregation) plan(in Input) *Plan {
	p := &Plan{
		Kind:             "aggregate",
		Ports:            []Port{{Schema: a.schema}},
		OrderInsensitive: a.orderInsensitive(),
		RestoresOrder:    a.orderInsensitive(),
		Convergence:      Convergent,
		Span:             a.span(),
		State:            "groups per " + a.window.String(),
		Reads:            [][]string{a.reads(in.Schema)},
		Detail:           a.detail(),
		New:              a.newInstance,
	}
	if p.Span < 0 {
		p.Convergence = Divergent
	}
	return p
}

// span is how far back a result looks: the window, and with emit_empty the time for which groups are known.
func (a *aggregation) span() int64 {
	s := a.window.span()
	if a.empty {
		if a.ttl == 0 || s < 0 {
			return -1
		}
		s += a.ttl
	}
	return s
}

func (a *aggregation) reads(s *tuple.Schema) []string {
	var lists [][]int
	for _, k := range a.keys {
		lists = append(lists, k.value.Columns())
	}
	for _, c := range a.calls {
		if c.arg != nil {
			lists = append(lists, c.arg.Columns())
		}
	}
	return namesOf(s, lists...)
}

func (a *aggregation) detail() string {
	var b strings.Builder
	for i, c := range a.calls {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name + " = " + c.text)
	}
	if len(a.keys) > 0 {
		b.WriteString(" by ")
		for i, k := range a.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(k.field.Name)
			if text := k.value.String(); text != k.field.Name {
				b.WriteString(" = " + text)
			}
		}
	}
	b.WriteString(" per " + a.window.String())
	if a.having != nil {
		b.WriteString(" having " + a.having.String())
	}
	return b.String()
}
