package expr

import (
	"math"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// FunctionDoc describes one function for people.
type FunctionDoc struct {
	Name      string
	Signature string // "round(x float64, [digits int64]) float64"
	Group     string // "text", "time", …
	Doc       string
}

// param is one argument of a function. Kind tuple.Invalid takes any type.
type param struct {
	name     string
	kind     tuple.Kind
	optional bool
	constant bool // the argument is known when the expression is compiled
}

// function is one overload. row computes one row and reports whether the result is not null; it is called where no
// argument is null, unless lenient. It is called through a pointer per row, which is little beside what the functions
// of the table do; what must be as fast as a loop (arithmetic, comparison, boolean) has kernels of its own instead, and
// functions of one dictionary column run once a code.
type function struct {
	name     string
	group    string
	params   []param
	variadic bool // the last parameter repeats
	result   tuple.Kind
	typed    func(args []*plan) tuple.Type // the result's type where it depends on the arguments'
	doc      string
	lenient  bool // row is called with null arguments too
	counts   bool // row may move the counters
	element  bool // the second argument is of the element type of the first, a list
	address  bool // needs addresses whose prefixes mean something
	row      func(c *call, i int) bool
	// check refuses arguments by value; prepare makes state of constant arguments. Both name the argument that is wrong.
	check   func(args []*plan) (int, error)
	prepare func(args []*plan) (any, int, error)
}

func (f *function) param(i int) param {
	if i >= len(f.params) {
		if f.variadic {
			return f.params[len(f.params)-1]
		}
		return param{}
	}
	return f.params[i]
}

func (f *function) resultOf(args []*plan) tuple.Type {
	if f.typed != nil {
		return f.typed(args)
	}
	return tuple.Of(f.result)
}

// takes returns the least and the most arguments.
func (f *function) takes() (least, most int) {
	for _, p := range f.params {
		if !p.optional {
			least++
		}
	}
	if f.variadic {
		return least, math.MaxInt
	}
	return least, len(f.params)
}

func (f *function) signature() string {
	var b strings.Builder
	b.WriteString(f.name + "(")
	for i, p := range f.params {
		if i > 0 {
			b.WriteString(", ")
		}
		kind := p.kind.String()
		if p.kind == tuple.Invalid {
			kind = "any"
		}
		text := p.name + " " + kind
		if f.variadic && i == len(f.params)-1 {
			text += "…"
		}
		if p.optional {
			text = "[" + text + "]"
		}
		b.WriteString(text)
	}
	b.WriteString(") ")
	if f.result == tuple.Invalid {
		b.WriteString("the element's type")
	} else {
		b.WriteString(f.result.String())
	}
	return b.String()
}

// functions returns the table, one slice a group.
func functions() [][]function {
	return [][]function{
		numberFunctions, roundingFunctions, textFunctions, patternFunctions, timeFunctions, clockFunctions, hashFunctions,
		jsonFunctions, addressFunctions, listFunctions,
	}
}

func functionsNamed(name string) []*function {
	var out []*function
	for _, group := range functions() {
		for i := range group {
			if group[i].name == name {
				out = append(out, &group[i])
			}
		}
	}
	return out
}

func isFunction(name string) bool { return isSpecial(name) || len(functionsNamed(name)) > 0 }

// Functions lists every function, group by group.
func Functions() []FunctionDoc {
	out := append([]FunctionDoc(nil), specialDocs...)
	for _, group := range functions() {
		for i := range group {
			f := &group[i]
			out = append(out, FunctionDoc{Name: f.name, Signature: f.signature(), Group: f.group, Doc: f.doc})
		}
	}
	return out
}

func didYouMeanFunction(name string) string {
	var names []string
	for _, d := range Functions() {
		names = append(names, d.Name)
	}
	return spec.DidYouMean(name, names)
}

var specialDocs = []FunctionDoc{
	{"coalesce", "coalesce(x any, …) any", "choice", "The first argument that is not null."},
	{"nullif", "nullif(a any, b any) any", "choice", "Null where a equals b, else a."},
	{"if", "if(condition bool, a any, b any) any", "choice", "a where the condition is true, else b; only the one chosen is computed."},
	{"greatest", "greatest(x any, …) any", "choice", "The largest argument; nulls are skipped."},
	{"least", "least(x any, …) any", "choice", "The smallest argument; nulls are skipped."},
}

// choose picks the overload that the arguments fit with the least adaptation; the first of the table among equals.
func (c *checker) choose(n *syntax, list []*function, args []*plan) *function {
	var best *function
	bestCost := math.MaxInt
	rightCount := false
	for _, f := range list {
		least, most := f.takes()
		if len(args) < least || len(args) > most {
			continue
		}
		rightCount = true
		if cost, ok := f.cost(args); ok && cost < bestCost {
			best, bestCost = f, cost
		}
	}
	if best != nil {
		return best
	}
	var uses []string
	for _, f := range list {
		uses = append(uses, f.signature())
	}
	hint := "write " + strings.Join(uses, " or ")
	if !rightCount {
		c.fail(n.at, hint, "%s does not take %d argument%s", n.name, len(args), plural(len(args)))
		return nil
	}
	for i, a := range args {
		if !slicesAny(list, func(f *function) bool { _, ok := argCost(f.param(i), a); return ok }) {
			if a.typ.Kind == tuple.String && list[0].param(i).kind == tuple.IP {
				hint = "write ip(…) to read addresses from text"
			}
			c.fail(a.pos, hint, "argument %d of %s cannot be %v", i+1, n.name, a.typ)
			return nil
		}
	}
	c.fail(n.at, hint, "%s does not take these types", n.name)
	return nil
}

func slicesAny(list []*function, holds func(*function) bool) bool {
	for _, f := range list {
		if holds(f) {
			return true
		}
	}
	return false
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func (f *function) cost(args []*plan) (int, bool) {
	total := 0
	for i, a := range args {
		cost, ok := argCost(f.param(i), a)
		if !ok {
			return 0, false
		}
		total += cost
	}
	return total, true
}

func argCost(p param, a *plan) (int, bool) {
	switch k := a.typ.Kind; {
	case p.kind == tuple.Invalid || p.kind == k || a.lit == litNull:
		return 0, true
	case a.lit == litString && p.kind != tuple.Decimal && p.kind != tuple.List:
		if _, ok := readValue(string(a.val.s), tuple.Of(p.kind)); !ok {
			return 9, p.kind >= tuple.Bytes // the adaptation will say what is wrong with the text
		}
		return 2, p.kind >= tuple.Bytes
	case p.kind == tuple.Float64 && (k == tuple.Int64 || k == tuple.Decimal):
		return 3, true
	}
	return 0, false
}
