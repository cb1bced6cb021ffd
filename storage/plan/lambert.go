package plan

import "math"

// onePlusW returns 1 + W(−e^(−1−d)) for d ≥ 0, W being the principal branch of Lambert's function: 0 at d = 0, and towards
// 1 as d grows. It is the useful part of the best interval, in units of the mean time between failures, when a checkpoint
// takes d of them.
//
// Near d = 0 the argument of W lies at the branch point −1/e, where d would be rounded away; so y = 1 + W is solved from
// its logarithm, y + log(1−y) = −d, by Halley's iteration. The relative error is below 1e-14.
func onePlusW(d float64) float64 {
	switch {
	case math.IsNaN(d) || d < 0:
		return math.NaN()
	case d == 0:
		return 0
	case d > 36:
		return -math.Expm1(-1 - d) // W(z) = z to the last digit
	}
	y := start(d)
	for range 64 {
		f := residual(y) + d
		// f' = −y/(1−y), f'' = −1/(1−y)²
		slope, curve := -y/(1-y), -1/((1-y)*(1-y))
		step := 2 * f * slope / (2*slope*slope - f*curve)
		next := y - step
		if next <= 0 || next >= 1 {
			next = y / 2
			if step < 0 {
				next = (1 + y) / 2
			}
		}
		if math.Abs(next-y) <= 1e-16*y {
			return next
		}
		y = next
	}
	return y
}

// start returns a first value: the series at the branch point, or the one for small arguments of W.
func start(d float64) float64 {
	if d < 1 {
		q := math.Sqrt(2 * d)
		return q * (1 - q/3 + q*q/36)
	}
	z := math.Exp(-1 - d)
	return 1 - z*(1+z)
}

// residual returns y + log(1−y), without cancellation for a small y.
func residual(y float64) float64 {
	if y > 0.05 {
		return y + math.Log1p(-y)
	}
	sum, power := 0.0, y
	for k := 2; k < 40; k++ {
		power *= y
		term := power / float64(k)
		sum -= term
		if term < 1e-18*-sum {
			break
		}
	}
	return sum
}
