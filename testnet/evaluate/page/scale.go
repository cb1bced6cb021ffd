package page

import (
	"math"
	"strconv"
	"strings"
)

// scale maps values to places on an axis.
type scale struct {
	lo, hi   float64 // of the values
	from, to float64 // of the axis
	log      bool
	ticks    []float64
}

// linear returns a scale from 0 to a round value at or above hi, with about n ticks.
func linear(hi float64, n int, from, to float64) scale {
	if hi <= 0 {
		hi = 1
	}
	step := niceStep(hi / float64(n))
	s := scale{lo: 0, hi: math.Ceil(hi/step-1e-9) * step, from: from, to: to}
	for i := 0; float64(i)*step <= s.hi+step/2; i++ {
		s.ticks = append(s.ticks, float64(i)*step)
	}
	return s
}

// logarithmic returns a scale over positive values, with a tick at each.
func logarithmic(values []float64, from, to float64) scale {
	s := scale{lo: math.Inf(1), hi: 0, from: from, to: to, log: true, ticks: values}
	for _, v := range values {
		s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v)
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

// at returns the place of a value.
func (s *scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return (s.from + s.to) / 2
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// label prints a value for an axis: 12,500 or 0.25.
func label(v float64) string {
	if v != math.Trunc(v) || v < 1000 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', 0, 64)
	var b strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// short prints a figure for a text alternative: three digits are enough.
func short(v float64) string {
	switch {
	case v >= 100:
		return label(math.Round(v))
	case v >= 10:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}
