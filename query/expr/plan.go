package expr

import (
	"slices"

	"fednode/query/tuple"
)

// op is what a typed node computes.
type op uint8

const (
	opConst    op = iota // val
	opCol                // col
	opNeg                // -args[0]
	opArith              // arith: args[0], args[1], both of the types that the rules of arith.go want
	opCompare            // cmp: args[0], args[1]; class says how
	opRange              // args[0], held as int64, lies in [lo, hi]; not
	opAnd                // args[0], args[1]
	opOr                 // args[0], args[1]
	opNot                // args[0]
	opIsNull             // args[0]; not
	opIsBool             // args[0] is val.b; not
	opIn                 // args[0] in args[1:]; not
	opInSet              // args[0] in set; not
	opBetween            // args[0] between args[1] and args[2]; not; class and classHi say how
	opCase               // args: condition, result, …; other: else; base: the operand of the short form or nil
	opCoalesce           // args
	opNullIf             // args[0] unless equal to args[1]; class says how
	opCast               // args[0] to typ
	opCall               // fn on args, with state
)

// value is one constant. Which field counts depends on the type beside it.
type value struct {
	null bool
	b    bool
	i    int64
	f    float64
	s    []byte
}

// litKind says what a constant was written as, while its type can still adapt to what it meets.
type litKind uint8

const (
	litNone   litKind = iota
	litNull           // NULL: any type
	litString         // '…': also timestamp, duration, ip, cidr, bytes
	litInt            // 12: also float64 and decimal
	litNumber         // 1.5: also decimal, with the digits as written
)

// plan is a typed node. It is immutable once checked; instances with scratch memory are made from it.
type plan struct {
	op      op
	typ     tuple.Type
	pos     int
	args    []*plan
	base    *plan
	other   *plan
	val     value
	lit     litKind
	text    string // of a number literal
	col     int
	arith   byte
	cmp     cmpOp
	class   cmpClass
	classHi cmpClass
	not     bool
	lo, hi  int64
	set     *constSet
	fn      *function
	state   any

	cols   []int      // columns read, sorted
	counts bool       // evaluation may move the counters
	form   tuple.Form // of the column whose addresses or names the value still carries
}

// finish computes what follows from the arguments.
func (p *plan) finish() *plan {
	kids := p.children()
	p.cols = nil
	if p.op == opCol {
		p.cols = []int{p.col}
	}
	p.counts = p.op == opNeg || p.op == opArith || p.op == opCast && castCounts(p) || p.op == opCall && p.fn.counts
	for _, k := range kids {
		p.cols = append(p.cols, k.cols...)
		p.counts = p.counts || k.counts
		if p.op != opCol && (p.typ.Kind.IsBinary() || p.typ.Kind == tuple.List) && hides(k.form) > hides(p.form) {
			p.form = k.form
		}
	}
	slices.Sort(p.cols)
	p.cols = slices.Compact(p.cols)
	return p
}

// hides orders the forms by how little of an address they leave.
func hides(f tuple.Form) int {
	switch f {
	case tuple.Truncated:
		return 1
	case tuple.PrefixPseudonym:
		return 2
	case tuple.Pseudonym:
		return 3
	case tuple.Hashed:
		return 4
	}
	return 0
}

// children returns all nodes below p.
func (p *plan) children() []*plan {
	if p.base == nil && p.other == nil {
		return p.args
	}
	kids := slices.Clone(p.args)
	if p.base != nil {
		kids = append(kids, p.base)
	}
	if p.other != nil {
		kids = append(kids, p.other)
	}
	return kids
}

func (p *plan) isConst() bool { return p.op == opConst }

func (p *plan) isNull() bool { return p.op == opConst && p.val.null }

// constant returns a constant of type t.
func constant(t tuple.Type, v value, pos int) *plan {
	return &plan{op: opConst, typ: t, val: v, pos: pos}
}

// mostFolded is the longest text that a constant may become when it is longer than what it is made of.
const mostFolded = 1 << 10

// fold replaces p by its value if that is known and computing it counts nothing: a division by zero is to be counted
// for every row. What makes much of little stays as it is written: a file of constants is not to hold a thousand times its
// size for as long as it is known.
func fold(p *plan) *plan {
	p.finish()
	if p.op == opConst || p.typ.Kind == tuple.List || len(p.cols) > 0 {
		return p
	}
	for _, k := range p.children() {
		if !k.isConst() {
			return p
		}
	}
	if p.prolific() {
		return p
	}
	e := newEval(p)
	c := e.evalOne()
	if e.counters != (Counters{}) {
		return p
	}
	out := constant(p.typ, valueAt(c, 0), p.pos)
	if n := len(out.val.s); n > mostFolded && n > textOf(p.children()) {
		return p
	}
	out.form = p.form
	return out
}

// prolific reports whether p is a call of constants that may make much more of them than is kept, so that it is not even
// tried: a file has room for tens of thousands.
func (p *plan) prolific() bool {
	if p.op != opCall || !p.fn.counts {
		return false
	}
	most := int64(16 * mostFolded / max(textOf(p.args), 1))
	return slices.ContainsFunc(p.args, func(k *plan) bool { return k.val.i > most })
}

// textOf is how long the texts of constants are together.
func textOf(constants []*plan) (n int) {
	for _, k := range constants {
		n += len(k.val.s)
	}
	return n
}

// valueAt returns row i of a column as a constant.
func valueAt(c *tuple.Column, i int) value {
	if c.IsNull(i) {
		return value{null: true}
	}
	switch k := c.Type.Kind; {
	case k == tuple.Bool:
		return value{b: c.Bool[i]}
	case k.IsInt():
		return value{i: c.Int[i]}
	case k == tuple.Float64:
		return value{f: c.Float[i]}
	}
	return value{s: slices.Clone(c.Bin(i))}
}
