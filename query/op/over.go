package op

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// overKind declares over: columns added to each row from the rows of the same key before it.
//
//	key = ["src"]
//	add = { before = "lag(n)", usual = "avg(n, 10)", week = "at(n, '7d')", trend = "ewma(n, 0.3)" }
//	ttl = "8d"          # a key not seen for that long is forgotten
//	limit = 1000000     # rows remembered; one of both bounds the state
//
// lag(x[, n]) is x of the n-th row before; at(x, d) of the last row at least d earlier; avg, stddev, min and max (x, n)
// go over the n rows before, with a time in place of n over the rows less than that earlier; ewma(x, a) is the
// exponentially weighted mean of all rows before with weight a for the newest. The row itself never counts, so it can be
// compared with what was usual. Nulls are skipped, but by lag and at; averages are float64, summed in order.
func overKind() Kind {
	return Kind{Name: "over", MinInputs: 1, MaxInputs: 1, Build: buildOver}
}

// maxOverRows bounds how many rows of a key one function may look back over.
const maxOverRows = 10_000

// overDecl is a checked declaration.
type overDecl struct {
	schema *tuple.Schema
	key    []int
	types  []tuple.Type    // of the key
	args   []*expr.Program // distinct arguments
	kinds  []tuple.Type    // of the arguments
	funcs  []overFunc
	means  int   // how many functions are ewma
	rows   int   // rows of a key that must be kept
	time   int64 // rows less than that earlier must be kept, and one more; -1 for none
	ttl    int64
	limit  int64
}

// overFunc is one added column.
type overFunc struct {
	name  string
	arg   int
	rows  int     // 0 if it goes by time
	time  int64   // microseconds
	alpha float64 // of ewma
	mean  int     // which of the means an ewma is
}

func buildOver(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &overDecl{key: columnList(r, "key", true, in[0]), time: -1}
	d.types = typesOf(in[0].Schema, d.key)
	d.ttl = r.Duration("ttl", 0, 1, maxSpan)
	d.limit = r.Int("limit", 0, 1, 1<<40)
	if !r.T.Has("ttl") && !r.T.Has("limit") {
		r.P.Add(r.T.Pos, r.T.KeyPath("ttl"), "add `ttl = \"1d\"`, or `limit = 1000000`", "nothing bounds the state: every key would be remembered for ever")
	}
	fields := append([]tuple.Field(nil), in[0].Schema.Fields()...)
	var detail []string
	if t := r.Table("add", true); t != nil {
		for _, e := range t.Entries {
			t.Lookup(e.Key)
			typ, ok := d.readFunc(r, e, in[0])
			if !ok {
				continue
			}
			fields = append(fields, tuple.Field{Name: e.Key, Type: typ})
			detail = append(detail, e.Key+" = "+e.Value.Str)
		}
		if len(t.Entries) == 0 {
			r.Errorf("add", "add at least one column", "`add` is empty")
		}
	}
	s, err := tuple.NewSchema(fields...)
	if err != nil && !before.more(r) {
		r.Errorf("add", "choose another name", "%v", err)
	}
	if before.more(r) {
		return nil
	}
	d.schema = s
	p := &Plan{
		Kind:        "over",
		Ports:       []Port{{Schema: s}},
		Convergence: Divergent,
		Span:        -1,
		State:       d.stateText(),
		Reads:       [][]string{nil},
		Detail:      fmt.Sprintf("by %s: %s", listNames(in[0].Schema, d.key), strings.Join(detail, ", ")),
		New:         func() Operator { return newOver(d) },
	}
	if d.means == 0 && d.ttl > 0 {
		// Rows of a key that follow each other are less than a ttl apart.
		p.Convergence = Convergent
		if d.ttl <= math.MaxInt64/int64(d.rows+1) {
			p.Span = max(int64(d.rows)*d.ttl, d.time+d.ttl)
		}
	}
	return p
}

func (d *overDecl) stateText() string {
	per := fmt.Sprintf("the last %d rows", d.rows)
	if d.time >= 0 {
		per += " and those of the last " + spanText(d.time)
	}
	if d.ttl > 0 {
		return per + " of each key of the last " + spanText(d.ttl)
	}
	return per + fmt.Sprintf(" of each key, %d rows in all", d.limit)
}

// readFunc reads one call and returns the type of its column.
func (d *overDecl) readFunc(r *spec.Reader, e *spec.Entry, in Input) (tuple.Type, bool) {
	key := "add." + e.Key
	v := e.Value
	if v.Kind != spec.String {
		r.P.Add(v.Pos, r.T.KeyPath(key), "", "expected a call such as lag(n) (a string), got %s", v.Kind)
		return tuple.Type{}, false
	}
	call, err := expr.ParseCall(v.Str)
	if err != nil {
		r.P.Add(v.At(err.Offset), r.T.KeyPath(key), err.Hint, "%s", err.Msg)
		return tuple.Type{}, false
	}
	names := []string{"lag", "at", "avg", "stddev", "min", "max", "ewma"}
	if !slices.Contains(names, call.Name) {
		r.P.Add(v.At(call.Offset), r.T.KeyPath(key), spec.DidYouMean(call.Name, names), "no function `%s` over earlier rows", call.Name)
		return tuple.Type{}, false
	}
	if n := len(call.Args); n != 2 && !(n == 1 && call.Name == "lag") {
		r.P.Add(v.At(call.Offset), r.T.KeyPath(key), "as in avg(n, 10), at(n, '7d') or ewma(n, 0.3)", "`%s` has %d arguments, expected 2", call.Name, n)
		return tuple.Type{}, false
	}
	// The argument is a text of its own, whose places are those of the call.
	offset := call.Args[0].Offset
	arg := &spec.Value{Kind: spec.String, Pos: v.At(offset), Str: call.Args[0].Src, Inner: func(at int) spec.Pos { return v.At(offset + at) }}
	p := compileOver(r, key, arg, in)
	if p == nil {
		return tuple.Type{}, false
	}
	f := overFunc{name: call.Name, rows: 1}
	if msg := f.refuses(p.Type()); msg != "" {
		r.P.Add(v.At(call.Args[0].Offset), r.T.KeyPath(key), "", "%s", msg)
		return tuple.Type{}, false
	}
	if len(call.Args) == 2 {
		if msg := f.readReach(call.Args[1].Src); msg != "" {
			r.P.Add(v.At(call.Args[1].Offset), r.T.KeyPath(key), "", "%s", msg)
			return tuple.Type{}, false
		}
	}
	d.addFunc(f, p)
	return f.result(p.Type()), true
}

// refuses says why the function cannot be applied to a type, "" if it can.
func (f overFunc) refuses(t tuple.Type) string {
	k := t.Kind
	switch f.name {
	case "lag", "at":
		if k == tuple.List {
			return fmt.Sprintf("`%s` of a list is not supported", f.name)
		}
	case "min", "max":
		if !k.IsInt() && k != tuple.Float64 {
			return fmt.Sprintf("`%s` goes over numbers and times, not %v", f.name, t)
		}
	default:
		if k != tuple.Int64 && k != tuple.Float64 && k != tuple.Decimal {
			return fmt.Sprintf("`%s` goes over numbers, not %v", f.name, t)
		}
	}
	return ""
}

// readReach reads the second argument: a number of rows, a time in quotes, or the weight of ewma.
func (f *overFunc) readReach(text string) string {
	if f.name == "ewma" {
		a, err := strconv.ParseFloat(text, 64)
		if err != nil || !(a > 0 && a <= 1) {
			return fmt.Sprintf("the weight %s is not a number above 0 and at most 1", text)
		}
		f.alpha, f.rows = a, 0
		return ""
	}
	if inner, ok := strings.CutPrefix(text, "'"); ok && strings.HasSuffix(inner, "'") && f.name != "lag" {
		us, err := tuple.ParseDuration(strings.TrimSuffix(inner, "'"))
		if err != nil || us <= 0 || us > maxSpan {
			return fmt.Sprintf("%s is not a time to look back; write one such as '7d'", text)
		}
		f.time, f.rows = us, 0
		return ""
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxOverRows || f.name == "at" {
		want := "a number of rows from 1 to " + strconv.Itoa(maxOverRows)
		switch f.name {
		case "at":
			want = "a time such as '7d'"
		case "lag":
		default:
			want += ", or a time such as '1h'"
		}
		return fmt.Sprintf("%s is not %s", text, want)
	}
	f.rows = n
	return ""
}

func (f overFunc) result(arg tuple.Type) tuple.Type {
	switch f.name {
	case "avg", "stddev", "ewma":
		return tuple.Of(tuple.Float64)
	}
	return arg
}

func (d *overDecl) addFunc(f overFunc, p *expr.Program) {
	f.arg = -1
	for i, a := range d.args {
		if a.String() == p.String() {
			f.arg = i
		}
	}
	if f.arg < 0 {
		f.arg = len(d.args)
		d.args, d.kinds = append(d.args, p), append(d.kinds, p.Type())
	}
	if f.name == "ewma" {
		f.mean = d.means
		d.means++
	}
	d.rows = max(d.rows, f.rows)
	if f.time > 0 {
		d.time = max(d.time, f.time)
	}
	d.funcs = append(d.funcs, f)
}
