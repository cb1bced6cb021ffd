package fmath

import "math"

var (
	ln2      = pair{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
	perLn2   = pair{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}
	perLn10  = pair{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}
	inverses = [...]pair{ // 1/k! for k = 2 to 9
		{0x1p-1, 0},
		{0x1.5555555555555p-3, 0x1.5555555555555p-57},
		{0x1.5555555555555p-5, 0x1.5555555555555p-59},
		{0x1.1111111111111p-7, 0x1.1111111111111p-63},
		{0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
		{0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
		{0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
		{0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
	}
)

// halvings is how often the argument of exp is halved before its series: with 8, nine terms reach 100 bits.
const halvings = 8

// expParts returns e^x as m * 2^k with m between 0.7 and 1.5; |x| < 2^20.
func expParts(x pair) (m pair, k int) {
	n := math.RoundToEven(float64(x.hi * perLn2.hi))
	r := x.add(ln2.scale(n).neg()).times2(1.0 / (1 << halvings))
	p := inverses[len(inverses)-1]
	for i := len(inverses) - 2; i >= 0; i-- {
		p = p.mul(r).add(inverses[i])
	}
	s := p.mul(r).mul(r).add(r) // e^r - 1
	for range halvings {
		s = s.times2(2).add(s.mul(s)) // (1+s)^2 - 1
	}
	return s.add(pair{hi: 1}), int(n)
}

// Exp returns e^x.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 709.8:
		return math.Inf(1)
	case x < -745.2:
		return 0
	}
	m, k := expParts(pair{hi: x})
	return math.Ldexp(m.hi, k)
}

// logParts returns ln(x) for finite x > 0 as ln(m) + k*ln2, m between sqrt(1/2) and sqrt(2).
func logParts(x float64) (lnM pair, k int) {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	if math.Abs(m-1) < 1.0/256 {
		return logNearOne(m), k
	}
	y := pair{hi: logSeries(m)}
	e, n := expParts(y.neg())
	z := e.times2(math.Ldexp(1, n)).scale(m).add(pair{hi: -1}) // m/e^y - 1, tiny
	return y.add(z).add(pair{hi: -float64(float64(z.hi*z.hi) / 2)}), k
}

// logSeries is ln(m) to about 50 bits: 2 artanh(s) with s = (m-1)/(m+1).
func logSeries(m float64) float64 {
	s := (m - 1) / (m + 1)
	q := float64(s * s)
	t := 0.0
	for i := 29; i >= 1; i -= 2 {
		t = float64(t*q) + 1/float64(i)
	}
	return float64(2 * float64(s*t))
}

// logNearOne sums the same series in pairs, since near 1 the result is small and a Newton step loses its last bits.
func logNearOne(m float64) pair {
	s := pair{hi: m - 1}.div(sum(m, 1))
	q := s.mul(s)
	t := pair{}
	for i := 15; i >= 1; i -= 2 {
		t = t.mul(q).add(pair{hi: 1}.div(pair{hi: float64(i)}))
	}
	return s.mul(t).times2(2)
}

// logSpecial returns the logarithm of what is not a finite positive number.
func logSpecial(x float64) (float64, bool) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x, true
	case x < 0:
		return math.NaN(), true
	case x == 0:
		return math.Inf(-1), true
	}
	return 0, false
}

// logPair returns ln(x) for finite x > 0.
func logPair(x float64) pair {
	l, k := logParts(x)
	return ln2.scale(float64(k)).add(l)
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if y, ok := logSpecial(x); ok {
		return y
	}
	return logPair(x).hi
}

// Log10 returns the logarithm of x to base 10; powers of ten give whole numbers.
func Log10(x float64) float64 {
	if y, ok := logSpecial(x); ok {
		return y
	}
	return logPair(x).mul(perLn10).hi
}

// Log2 returns the logarithm of x to base 2; powers of two give whole numbers.
func Log2(x float64) float64 {
	if y, ok := logSpecial(x); ok {
		return y
	}
	l, k := logParts(x)
	return l.mul(perLn2).add(pair{hi: float64(k)}).hi
}
