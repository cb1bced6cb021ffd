package fmath

import "math"

var halfPi = pair{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}

// reduce returns x less n quarter turns, within an eighth turn of 0, and n modulo 4.
func reduce(x float64) (r float64, n int) {
	q := math.RoundToEven(x / halfPi.hi)
	return pair{hi: x}.add(halfPi.scale(q).neg()).hi, int(int64(q) & 3)
}

// Sin returns the sine of x in radians, |x| up to 1e6.
func Sin(x float64) float64 { return turned(x, 0) }

// Cos returns the cosine of x in radians, |x| up to 1e6.
func Cos(x float64) float64 { return turned(x, 1) }

func turned(x float64, quarters int) float64 {
	r, n := reduce(x)
	switch (n + quarters) & 3 {
	case 0:
		return sinSmall(r)
	case 1:
		return cosSmall(r)
	case 2:
		return -sinSmall(r)
	}
	return -cosSmall(r)
}

func sinSmall(r float64) float64 { return float64(r * alternating(float64(r*r), 19)) }

func cosSmall(r float64) float64 { return alternating(float64(r*r), 18) }

// alternating is 1 - q/((k-1)k) (1 - …) from the inside out, the series of the sine (last odd) or the cosine (even).
func alternating(q float64, last int) float64 {
	t := 1.0
	for k := last; k >= 2; k -= 2 {
		t = 1 - float64(q*t)/float64(k*(k-1))
	}
	return t
}

// Atan returns the angle in radians whose tangent is t, t not negative.
func Atan(t float64) float64 {
	if t > 1 {
		return halfPi.hi - Atan(1/t)
	}
	for range 2 { // halve the angle twice
		t = t / (1 + math.Sqrt(1+float64(t*t)))
	}
	q, s := float64(t*t), 0.0
	for i := 25; i >= 1; i -= 2 {
		s = 1/float64(i) - float64(q*s)
	}
	return float64(4 * float64(t*s))
}
