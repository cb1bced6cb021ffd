package op

import (
	"fmt"
	"strings"

	"fednode/query/expr"
	"fednode/query/op/aggfn"
	"fednode/query/op/state"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// readGroupBy reads group_by: columns, or names with expressions.
func readGroupBy(r *spec.Reader, in Input) []groupKey {
	v := r.Value("group_by", false, spec.Array, spec.String, spec.TableKind)
	if v == nil {
		return nil
	}
	var keys []groupKey
	if v.Kind == spec.TableKind {
		for _, e := range v.Table.Entries {
			v.Table.Lookup(e.Key)
			if p := compileText(r, "group_by", e.Value, in.Schema); p != nil {
				keys = append(keys, groupKey{field: keyField(e.Key, p, in.Schema), value: p})
			}
		}
	} else {
		for _, i := range columnList(r, "group_by", false, in) {
			// Quoted, a name is an expression whatever characters it has.
			p, errs := expr.Compile(quoteName(in.Schema.Field(i).Name), in.Schema)
			for _, e := range errs {
				r.Errorf("group_by", e.Hint, "%s", e.Msg)
			}
			if p != nil {
				keys = append(keys, groupKey{field: in.Schema.Field(i), value: p})
			}
		}
	}
	if len(keys) > state.MaxKeyColumns {
		r.Errorf("group_by", "", "%d group columns; at most %d", len(keys), state.MaxKeyColumns)
		return nil
	}
	return keys
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// keyField describes a group column; one that is just a column keeps what an export did to it.
func keyField(name string, p *expr.Program, s *tuple.Schema) tuple.Field {
	f := tuple.Field{Name: name, Type: p.Type()}
	if i, ok := p.Column(); ok {
		f = s.Field(i)
		f.Name = name
	}
	return f
}

// readAggregates reads aggregates, in the order in which they are written.
func readAggregates(r *spec.Reader, in Input) []call {
	t := r.Table("aggregates", true)
	if t == nil {
		return nil
	}
	if len(t.Entries) == 0 {
		r.Errorf("aggregates", `write one such as { n = "count()" }`, "`aggregates` is empty")
	}
	var calls []call
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		if e.Value.Kind != spec.String {
			r.P.Add(e.Value.Pos, t.KeyPath(e.Key), "", "expected a string such as \"sum(bytes)\", got %s", e.Value.Kind)
			continue
		}
		if c, ok := readCall(r.P, t.KeyPath(e.Key), e, in.Schema); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

func readCall(p *spec.Problems, path string, e *spec.Entry, s *tuple.Schema) (c call, ok bool) {
	fail := func(offset int, hint, format string, args ...any) (call, bool) {
		p.Add(e.Value.At(offset), path, hint, format, args...)
		return call{}, false
	}
	parsed, perr := expr.ParseCall(e.Value.Str)
	if perr != nil {
		return fail(perr.Offset, perr.Hint, "%s", perr.Msg)
	}
	shape, known := aggfn.Shape(parsed.Name)
	if !known {
		return fail(parsed.Offset, spec.DidYouMean(parsed.Name, aggfn.Names()), "no aggregate function `%s`", parsed.Name)
	}
	params := aggfn.Params(parsed.Name)
	counting := parsed.Name == "count" && len(parsed.Args) == 0
	if len(parsed.Args) != 1+len(params) && !counting {
		return fail(parsed.Offset, "", "%s takes %s, got %d arguments", parsed.Name, shape, len(parsed.Args))
	}
	c = call{name: e.Key, text: parsed.Name + "()"}
	var argType *tuple.Type
	if !counting {
		arg, errs := expr.Compile(parsed.Args[0].Src, s)
		for _, x := range errs {
			p.Add(e.Value.At(parsed.Args[0].Offset+x.Offset), path, x.Hint, "%s", x.Msg)
		}
		if len(errs) > 0 {
			return call{}, false
		}
		t := arg.Type()
		c.arg, argType = arg, &t
		c.text = parsed.Name + "(" + arg.String()
	}
	var consts []float64
	for i, param := range params {
		a := parsed.Args[1+i]
		v, err := aggfn.ParseParam(param, a.Src)
		if err != nil {
			return fail(a.Offset, "", "%v", err)
		}
		consts = append(consts, v)
		c.text += fmt.Sprintf(", %v", v)
	}
	if !counting {
		c.text += ")"
	}
	fn, err := aggfn.Resolve(parsed.Name, argType, consts)
	if err != nil {
		return fail(parsed.Offset, "", "%v", err)
	}
	c.fn = fn
	return c, true
}
