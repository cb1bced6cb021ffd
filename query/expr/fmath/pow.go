package fmath

import "math"

// Pow returns x to the power of y.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return powSpecial(x, y)
	case x < 0 && y != math.Trunc(y):
		return math.NaN()
	}
	r := powPositive(math.Abs(x), y)
	if x < 0 && isOdd(y) {
		return -r
	}
	return r
}

func powPositive(x, y float64) float64 {
	if x == 1 {
		return 1
	}
	l := logPair(x)
	switch rough := float64(l.hi * y); {
	case rough > 710:
		return math.Inf(1)
	case rough < -746:
		return 0
	}
	m, k := expParts(l.scale(y))
	return math.Ldexp(m.hi, k)
}

// powSpecial is for zeros and infinities, of which package math has exact cases and no arithmetic.
func powSpecial(x, y float64) float64 {
	if math.IsInf(y, 0) {
		switch a := math.Abs(x); {
		case a == 1:
			return 1
		case (a < 1) == (y > 0):
			return 0
		}
		return math.Inf(1)
	}
	r := 0.0
	if (x == 0) == (y < 0) {
		r = math.Inf(1)
	}
	if math.Signbit(x) && isOdd(y) {
		return -r
	}
	return r
}

// isOdd reports whether y is an odd whole number; from 2^53 on all floats are even.
func isOdd(y float64) bool {
	y = math.Abs(y)
	return y < 1<<53 && y == math.Trunc(y) && int64(y)&1 == 1
}
