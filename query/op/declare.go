package op

import (
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// The helpers here read what the declarations of several kinds have in common. They record every problem at its place
// and go on, so that one run reports all of a declaration's errors.

// problemMark remembers how many errors there were, to tell whether reading a declaration added any.
type problemMark int

func markProblems(r *spec.Reader) problemMark { return problemMark(len(r.P.Errors)) }

// more reports whether errors came since; past the number that is kept it cannot tell, and assumes so.
func (m problemMark) more(r *spec.Reader) bool {
	return len(r.P.Errors) > int(m) || len(r.P.Errors) >= spec.MaxProblems
}

// know marks keys that a declaration which is wrong elsewhere leaves unread.
func know(r *spec.Reader, keys ...string) {
	for _, k := range keys {
		r.Value(k, false)
	}
}

// compileText type-checks the text of v, the value of key or a part of it; nil when it is wrong.
func compileText(r *spec.Reader, key string, v *spec.Value, s *tuple.Schema) *expr.Program {
	return compileOver(r, key, v, Input{Schema: s})
}

// compileOver is compileText for an expression over one stream, which messages name.
func compileOver(r *spec.Reader, key string, v *spec.Value, in Input) *expr.Program {
	if v.Kind != spec.String {
		r.P.Add(v.Pos, r.T.KeyPath(key), "", "expected an expression (a string), got %s", v.Kind)
		return nil
	}
	p, errs := expr.Compile(v.Str, in.Schema)
	for _, e := range errs {
		msg := e.Msg
		if in.Name != "" && strings.HasPrefix(msg, "no column ") {
			msg += " in stream `" + in.Name + "`" // the expression does not know whose columns these are
		}
		r.P.Add(v.At(e.Offset), r.T.KeyPath(key), e.Hint, "%s", msg)
	}
	if len(errs) > 0 {
		return nil
	}
	return p
}

// condition reads a boolean expression.
func condition(r *spec.Reader, key string, required bool, s *tuple.Schema) *expr.Program {
	return conditionOver(r, key, required, Input{Schema: s})
}

// conditionOver is condition for an expression over one stream, which messages name.
func conditionOver(r *spec.Reader, key string, required bool, in Input) *expr.Program {
	v := r.Value(key, required, spec.String)
	if v == nil {
		return nil
	}
	p := compileOver(r, key, v, in)
	if p != nil && p.Type().Kind != tuple.Bool {
		r.P.Add(v.Pos, r.T.KeyPath(key), "compare it with something, as in `bytes > 1000`",
			"a condition is a bool, `%s` is %v", v.Str, p.Type())
		return nil
	}
	return p
}

// columnAt returns the position of the column that v names.
func columnAt(r *spec.Reader, key string, v *spec.Value, in Input) (int, bool) {
	return columnNamed(r, key, v.Pos, v.Str, in)
}

func columnNamed(r *spec.Reader, key string, pos spec.Pos, name string, in Input) (int, bool) {
	if i, ok := in.Schema.Index(name); ok {
		return i, true
	}
	r.P.Add(pos, r.T.KeyPath(key), spec.DidYouMean(name, in.Schema.Names()), "no column `%s` in stream `%s`", name, in.Name)
	return 0, false
}

// columnList reads the names of distinct columns and returns their positions as written.
func columnList(r *spec.Reader, key string, required bool, in Input) []int {
	before := markProblems(r)
	var cols []int
	for _, v := range r.Strings(key, required) {
		i, ok := columnAt(r, key, v, in)
		if !ok {
			continue
		}
		if contains(cols, i) {
			r.P.Add(v.Pos, r.T.KeyPath(key), "", "the column `%s` is named twice", v.Str)
			continue
		}
		cols = append(cols, i)
	}
	if required && r.T.Has(key) && len(cols) == 0 && !before.more(r) {
		r.Errorf(key, "name at least one column", "`%s` is empty", key)
	}
	return cols
}

// windowColumns returns the positions of window_start and window_end, which the results of windowed operators carry; key
// is the key of the declaration that needs them.
func windowColumns(r *spec.Reader, key string, in Input) (start, end int, ok bool) {
	start, okStart := in.Schema.Index(windowStart)
	end, okEnd := in.Schema.Index(windowEnd)
	stamp := tuple.Of(tuple.Timestamp)
	if okStart && okEnd && in.Schema.Field(start).Type == stamp && in.Schema.Field(end).Type == stamp {
		return start, end, true
	}
	r.Errorf(key, "put an aggregate with a window before it", "`%s` has no windows: it lacks the timestamps %s and %s",
		in.Name, windowStart, windowEnd)
	return 0, 0, false
}

// The columns that say which window a result belongs to.
const (
	windowStart = "window_start"
	windowEnd   = "window_end"
)

func contains(list []int, x int) bool {
	for _, y := range list {
		if y == x {
			return true
		}
	}
	return false
}

// namesOf returns the names of columns in schema order without repeats: what Plan.Reads holds.
func namesOf(s *tuple.Schema, lists ...[]int) []string {
	used := make([]bool, s.Len())
	for _, l := range lists {
		for _, i := range l {
			used[i] = true
		}
	}
	names := []string{}
	for i, u := range used {
		if u {
			names = append(names, s.Field(i).Name)
		}
	}
	return names
}

// listNames prints columns for Plan.Detail.
func listNames(s *tuple.Schema, cols []int) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = s.Field(c).Name
	}
	return strings.Join(names, ", ")
}

// evalCounters adds what an evaluation swallowed.
func evalCounters(c Counters, e *expr.Eval) Counters {
	if e != nil {
		n := e.Counters()
		c.DivByZero += n.DivByZero
		c.Overflow += n.Overflow
	}
	return c
}
