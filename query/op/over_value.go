package op

import (
	"math"
	"slices"

	"fednode/query/tuple"
)

func (o *over) weigh(f *overFunc, mean scalar, i int) scalar {
	x := o.number(scalarAt(o.columns[f.arg], i), f.arg)
	if !x.set {
		return mean
	}
	if !mean.set {
		return x
	}
	// Each product is rounded by itself, so that no processor fuses it with the sum.
	v := float64(f.alpha*math.Float64frombits(x.bits)) + float64((1-f.alpha)*math.Float64frombits(mean.bits))
	return floatScalar(v)
}

func floatScalar(v float64) scalar { return scalar{set: true, bits: math.Float64bits(v)} }

// number returns a value of an argument as a float64.
func (o *over) number(v scalar, arg int) scalar {
	t := o.d.kinds[arg]
	switch {
	case !v.set || t.Kind == tuple.Float64:
		return v
	case t.Kind == tuple.Decimal:
		return floatScalar(float64(int64(v.bits)) / math.Pow10(int(t.Scale)))
	}
	return floatScalar(float64(int64(v.bits)))
}

// value computes one added column for a row at t from the rows before it.
func (o *over) value(f *overFunc, h *overHistory, t tuple.Time) scalar {
	n, stride := len(h.time), len(o.columns)
	switch f.name {
	case "lag":
		if n < f.rows {
			return scalar{}
		}
		return h.cells[(n-f.rows)*stride+f.arg]
	case "at":
		last, _ := slices.BinarySearch(h.time, t.Add(-f.time)+1)
		if last == 0 {
			return scalar{}
		}
		return h.cells[(last-1)*stride+f.arg]
	case "ewma":
		return h.means[f.mean]
	}
	first := n - f.rows
	if f.time > 0 {
		first, _ = slices.BinarySearch(h.time, t.Add(-f.time)+1)
	}
	return o.fold(f, h, max(first, 0))
}

// fold goes over the rows of a history from the first-th on, in order.
func (o *over) fold(f *overFunc, h *overHistory, first int) scalar {
	stride := len(o.columns)
	switch f.name {
	case "min", "max":
		return o.extreme(f, h, first)
	}
	sum, n := 0.0, 0
	for i := first; i < len(h.time); i++ {
		if x := o.number(h.cells[i*stride+f.arg], f.arg); x.set {
			sum += math.Float64frombits(x.bits)
			n++
		}
	}
	if n == 0 || n == 1 && f.name == "stddev" {
		return scalar{}
	}
	mean := sum / float64(n)
	if f.name == "avg" {
		return floatScalar(mean)
	}
	squares := 0.0
	for i := first; i < len(h.time); i++ {
		if x := o.number(h.cells[i*stride+f.arg], f.arg); x.set {
			dev := math.Float64frombits(x.bits) - mean
			squares += float64(dev * dev)
		}
	}
	return floatScalar(math.Sqrt(squares / float64(n-1)))
}

func (o *over) extreme(f *overFunc, h *overHistory, first int) scalar {
	var best scalar
	float := o.d.kinds[f.arg].Kind == tuple.Float64
	for i := first; i < len(h.time); i++ {
		x := h.cells[i*len(o.columns)+f.arg]
		if !x.set {
			continue
		}
		if !best.set {
			best = x
			continue
		}
		less := int64(x.bits) < int64(best.bits)
		more := int64(x.bits) > int64(best.bits)
		if float {
			c := tuple.CompareFloat(math.Float64frombits(x.bits), math.Float64frombits(best.bits))
			less, more = c < 0, c > 0
		}
		if f.name == "min" && less || f.name == "max" && more {
			best = x
		}
	}
	return best
}
