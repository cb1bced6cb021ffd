package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Scale maps values to places on an axis.
type Scale struct {
	lo, hi   float64 // of the values
	from, to float64 // of the axis
	log      bool
	Ticks    []float64
}

// Linear returns a scale from 0 to a round value at or above hi, with about n ticks.
func Linear(hi float64, n int, from, to float64) Scale {
	if hi <= 0 {
		hi = 1
	}
	return Between(0, hi, n, from, to)
}

// Between returns a scale from a round value at or below lo to one at or above hi, with about n ticks.
func Between(lo, hi float64, n int, from, to float64) Scale {
	if hi <= lo {
		hi = lo + 1
	}
	step := niceStep((hi - lo) / float64(n))
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	s := Scale{lo: first * step, hi: last * step, from: from, to: to}
	for k := first; k <= last; k++ {
		s.Ticks = append(s.Ticks, k*step)
	}
	return s
}

// Until returns a scale from 0 that ends exactly at hi: for an axis of time.
func Until(hi float64, n int, from, to float64) Scale {
	s := Linear(hi, n, from, to)
	if hi > 0 {
		s.hi = hi
		s.Ticks = slices.DeleteFunc(s.Ticks, func(t float64) bool { return t > hi*(1+1e-9) })
	}
	return s
}

// Logarithmic returns a scale over positive values, with a tick at each, or at the powers of ten if they are many.
func Logarithmic(values []float64, from, to float64) Scale {
	s := Scale{lo: math.Inf(1), from: from, to: to, log: true, Ticks: values}
	for _, v := range values {
		s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v)
	}
	const most = 8
	if len(values) > most {
		s.Ticks = nil
		for p := math.Pow(10, math.Ceil(math.Log10(s.lo)-1e-9)); p <= s.hi*(1+1e-9); p *= 10 {
			s.Ticks = append(s.Ticks, p)
		}
	}
	return s
}

// niceStep returns the 1, 2 or 5 times a power of ten that is at or above a step.
func niceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= raw-1e-9*power {
			return f * power
		}
	}
	return 10 * power
}

// At returns the place of a value.
func (s *Scale) At(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return (s.from + s.to) / 2
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// Label prints a value for an axis: 12,500 or 0.25.
func Label(v float64) string {
	v = math.Round(v*1e9) / 1e9 // a tick is a multiple of a step, which is not exact
	if v != math.Trunc(v) || math.Abs(v) < 1000 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteByte('-')
	}
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Short prints a figure for a text alternative: three digits are enough.
func Short(v float64) string {
	size := math.Abs(v)
	switch {
	case size >= 100:
		return Label(math.Round(v))
	case size >= 10:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	case size >= 1 || size == 0:
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
