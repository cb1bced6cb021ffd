package fmath

// pair is the unevaluated sum hi + lo with |lo| at most half a unit in the last place of hi.
type pair struct{ hi, lo float64 }

// quickSum is a + b exactly; |a| >= |b|.
func quickSum(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// sum is a + b exactly.
func sum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// split cuts a into two halves of 26 bits each; |a| < 2^990.
func split(a float64) (hi, lo float64) {
	t := float64(a * (1<<27 + 1))
	hi = t - (t - a)
	return hi, a - hi
}

// product is a * b exactly, as long as nothing overflows or vanishes.
func product(a, b float64) pair {
	p := float64(a * b)
	ah, al := split(a)
	bh, bl := split(b)
	e := float64(ah*bh) - p
	e += float64(ah * bl)
	e += float64(al * bh)
	e += float64(al * bl)
	return pair{p, e}
}

func (x pair) add(y pair) pair {
	s, t := sum(x.hi, y.hi), sum(x.lo, y.lo)
	r := quickSum(s.hi, s.lo+t.hi)
	return quickSum(r.hi, r.lo+t.lo)
}

func (x pair) mul(y pair) pair {
	p := product(x.hi, y.hi)
	cross := float64(x.hi*y.lo) + float64(x.lo*y.hi)
	return quickSum(p.hi, p.lo+cross)
}

func (x pair) scale(f float64) pair { return x.mul(pair{hi: f}) }

// times2 is x times a power of two, exactly.
func (x pair) times2(power float64) pair { return pair{float64(x.hi * power), float64(x.lo * power)} }

func (x pair) neg() pair { return pair{-x.hi, -x.lo} }

func (x pair) div(y pair) pair {
	q1 := x.hi / y.hi
	r := x.add(y.scale(q1).neg())
	q2 := r.hi / y.hi
	r = r.add(y.scale(q2).neg())
	return quickSum(q1, q2).add(pair{hi: r.hi / y.hi})
}
