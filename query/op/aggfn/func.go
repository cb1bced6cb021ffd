package aggfn

import (
	"fmt"
	"strconv"
	"strings"

	"fednode/query/tuple"
)

// Acc is the state of one function: an accumulator for each slot. It belongs to one goroutine.
type Acc interface {
	// Grow makes room for slots below n.
	Grow(n int)
	// Add adds row i of col, which has no nulls, to slot slots[i]. Rows come in stream order. The only error is *FullError.
	Add(slots []uint32, col *tuple.Column) error
	// Merge adds slot from[i] of an accumulator of the same function, or of itself, to slot to[i], after what to[i] has.
	// Slots of to are distinct and not among from if src is the receiver.
	Merge(src Acc, from, to []uint32) error
	// Result replaces dst by the results of slots, where n[i] is how many values slot i has; a result over none is null.
	// It returns how many results were out of range, which are null too.
	Result(dst *tuple.Column, slots []uint32, n []int64) (overflow uint64)
	// Snapshot appends the state of slots; Restore reads it into slots 0 to n-1 of a new accumulator.
	Snapshot(e *tuple.Encoder, slots []uint32)
	Restore(d *tuple.Decoder, n int)
	// Clear empties all slots and keeps memory for the next use.
	Clear()
	Fork() Acc
	Bytes() int64
}

// Releaser is an accumulator that keeps scratch from one call of Add to the next.
type Releaser interface {
	// Release gives the scratch back; the next call of Add makes it anew.
	Release()
}

// FullError says that a slot has reached the bound of a collecting function.
type FullError struct {
	Slot  uint32
	Limit int64
}

// Error says which bound; the operator, which knows the group, says it better.
func (e *FullError) Error() string { return fmt.Sprintf("more than %d values collected", e.Limit) }

// Func is a checked call: a function with the type of its argument and its parameters.
type Func struct {
	Name string
	// HasArg: the function takes an expression; count() does not.
	HasArg bool
	// Type of the result.
	Type tuple.Type
	// OrderInsensitive: the result does not depend on the order of the rows.
	OrderInsensitive bool
	// New makes an empty accumulator; nil for counts, which need none beyond the caller's.
	New func() Acc
}

// Param is a constant argument after the expression.
type Param struct {
	// Name of it in messages.
	Name string
	// Lo and Hi bound its value; Integer says that it must be whole.
	Lo, Hi  float64
	Integer bool
}

// kind describes one function to Resolve.
type kind struct {
	name    string
	noArg   bool // may be called without an expression
	params  []Param
	resolve func(arg tuple.Type, params []float64) (Func, error)
}

// MaxCollect and MaxTop bound the lists that collect and top_k return.
const (
	MaxCollect = 1 << 20
	MaxTop     = 1000
)

func kinds() []kind {
	return []kind{
		{name: "count", noArg: true, resolve: resolveCount},
		{name: "sum", resolve: resolveSum},
		{name: "avg", resolve: resolveAvg},
		{name: "min", resolve: resolveExtreme(false)},
		{name: "max", resolve: resolveExtreme(true)},
		{name: "stddev", resolve: resolveStddev(false)},
		{name: "stddev_pop", resolve: resolveStddev(true)},
		{name: "first", resolve: resolvePick(false)},
		{name: "last", resolve: resolvePick(true)},
		{name: "count_distinct", resolve: resolveDistinct},
		{name: "approx_count_distinct", resolve: resolveApprox},
		{name: "quantile", params: []Param{{Name: "q", Lo: 0, Hi: 1}}, resolve: resolveQuantile},
		{name: "top_k", params: []Param{{Name: "k", Lo: 1, Hi: MaxTop, Integer: true}}, resolve: resolveTop},
		{name: "collect", params: []Param{{Name: "limit", Lo: 1, Hi: MaxCollect, Integer: true}}, resolve: resolveCollect},
	}
}

// Names returns the names of all functions.
func Names() []string {
	all := kinds()
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.name
	}
	return names
}

// Shape returns what a call of a function looks like, "quantile(x, q)", and whether there is such a function.
func Shape(name string) (string, bool) {
	for _, k := range kinds() {
		if k.name == name {
			shape := name + "(x"
			for _, p := range k.params {
				shape += ", " + p.Name
			}
			return shape + ")", true
		}
	}
	return "", false
}

// Params returns the constants that a function takes after its expression.
func Params(name string) []Param {
	for _, k := range kinds() {
		if k.name == name {
			return k.params
		}
	}
	return nil
}

// ParseParam reads a constant.
func ParseParam(p Param, text string) (float64, error) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("`%s` is not a number; %s is a constant", text, p.Name)
	}
	if !(v >= p.Lo && v <= p.Hi) {
		return 0, fmt.Errorf("%s = %s is out of range; expected %v to %v", p.Name, text, p.Lo, int64(p.Hi))
	}
	if p.Integer && v != float64(int64(v)) {
		return 0, fmt.Errorf("%s = %s is not a whole number", p.Name, text)
	}
	return v, nil
}

// Resolve types a call. arg is the type of the expression, nil when there is none; params are as many as Params tells.
func Resolve(name string, arg *tuple.Type, params []float64) (Func, error) {
	for _, k := range kinds() {
		if k.name != name {
			continue
		}
		if arg == nil && !k.noArg {
			shape, _ := Shape(name)
			return Func{}, fmt.Errorf("%s needs an argument: %s", name, shape)
		}
		var t tuple.Type
		if arg != nil {
			t = *arg
		}
		f, err := k.resolve(t, params)
		f.Name, f.HasArg = name, arg != nil
		return f, err
	}
	return Func{}, fmt.Errorf("no aggregate function `%s`", name)
}

func wrongType(name string, t tuple.Type, want string) error {
	return fmt.Errorf("%s of %v: expected %s", name, t, want)
}

func resolveCount(tuple.Type, []float64) (Func, error) {
	return Func{Type: tuple.Of(tuple.Int64), OrderInsensitive: true}, nil
}
