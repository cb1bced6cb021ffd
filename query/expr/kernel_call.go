package expr

import (
	"math"

	"fednode/query/tuple"
)

// call is what a function sees of the batch it computes: its arguments as columns, row by row, and where results go.
type call struct {
	args  []*tuple.Column
	state any // made by the function's prepare
	count *Counters
	out   *vec
	sink  *sink
	grown bool   // results may be longer than the arguments, and are held to MaxString
	tmp   []byte // scratch for building one value
}

func (c *call) null(arg, i int) bool       { return c.args[arg].IsNull(i) }
func (c *call) boolean(arg, i int) bool    { return c.args[arg].Bool[i] }
func (c *call) int(arg, i int) int64       { return c.args[arg].Int[i] }
func (c *call) float(arg, i int) float64   { return c.args[arg].Float[i] }
func (c *call) bin(arg, i int) []byte      { return c.args[arg].Bin(i) }
func (c *call) has(arg int) bool           { return arg < len(c.args) }
func (c *call) scale(arg int) uint8        { return c.args[arg].Type.Scale }
func (c *call) setBool(i int, v bool) bool { c.out.bools[i] = v; return true }

func (c *call) setInt(i int, v int64) bool { c.out.ints[i] = v; return true }

func (c *call) setFloat(i int, v float64) bool { c.out.floats[i] = v; return true }

// setBin stores a binary result, which is copied; one that is too long is null.
func (c *call) setBin(i int, v []byte) bool {
	if !c.sink.fits(v, c.grown) {
		return false
	}
	c.out.codes[i] = c.sink.add(v)
	return true
}

// setText stores what was built in tmp.
func (c *call) setText(i int, v []byte) bool {
	c.tmp = v
	return c.setBin(i, v)
}

// overflow counts a result that there is not, and reports so.
func (c *call) overflow() bool {
	c.count.Overflow++
	return false
}

// setChecked stores an int64 if fault says that there is one, and counts otherwise.
func (c *call) setChecked(i int, v int64, f fault) bool {
	if f != faultNone {
		c.count.count(f)
		return false
	}
	return c.setInt(i, v)
}

// callKernel runs a function row by row.
type callKernel struct {
	args    []kernel
	row     func(c *call, i int) bool
	lenient bool
	c       call
	out     vec
}

func (e *Eval) buildCall(p *plan, out vec) kernel {
	k := e.callOf(p, p.fn.row, p.fn.lenient, out)
	k.c.grown = p.fn.counts
	return k
}

func (e *Eval) callOf(p *plan, row func(c *call, i int) bool, lenient bool, out vec) *callKernel {
	k := &callKernel{args: e.buildAll(p.args), row: row, lenient: lenient, out: out}
	k.c = call{args: make([]*tuple.Column, len(p.args)), state: p.state, count: &e.counters, sink: newSink(p.typ, e)}
	return k
}

func (k *callKernel) eval(f *frame) *tuple.Column {
	k.c.out = &k.out
	k.out.Valid = nil
	k.out.resize(f.n)
	for j, a := range k.args {
		k.c.args[j] = a.eval(f)
		if !k.lenient {
			k.strict(k.c.args[j].Valid, f.n)
		}
	}
	k.c.sink.rotate()
	k.rows(f.n)
	if k.c.sink != nil {
		k.out.Dict = k.c.sink.dict()
	}
	return &k.out.Column
}

// strict makes the result null where an argument is.
func (k *callKernel) strict(valid []bool, n int) {
	if valid == nil {
		return
	}
	own := k.out.ownValid(n)
	for i, ok := range valid[:n] {
		own[i] = own[i] && ok
	}
}

func (k *callKernel) rows(n int) {
	binary := k.c.sink != nil
	for i := range n {
		if k.out.Valid != nil && !k.out.Valid[i] {
			if binary {
				k.out.codes[i] = 0
			}
			continue
		}
		if !k.row(&k.c, i) {
			k.out.ownValid(n)[i] = false
			if binary {
				k.out.codes[i] = 0
			}
		}
	}
}

// floatRange reports whether f, once cut to a whole number, is an int64.
func floatRange(f float64) bool { return f > -1<<63-1 && f < 1<<63 && !math.IsNaN(f) }
