package op

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

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
