package aggfn

import (
	"math"
	"math/big"
	"math/bits"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveStddev(population bool) func(tuple.Type, []float64) (Func, error) {
	return func(t tuple.Type, _ []float64) (Func, error) {
		out := tuple.Of(tuple.Float64)
		switch t.Kind {
		case tuple.Float64:
			return Func{Type: out, New: func() Acc { return &spreadFloat{population: population} }}, nil
		case tuple.Int64, tuple.Decimal:
			return Func{Type: out, OrderInsensitive: true, New: func() Acc {
				return &spreadInt{population: population, scale: t.Scale}
			}}, nil
		}
		return Func{}, wrongType("stddev", t, "int64, float64 or decimal")
	}
}

// spreadInt keeps the exact sum and sum of squares of integers.
type spreadInt struct {
	population bool
	scale      uint8
	m          state.Array[moments]
}

// moments is a 128-bit sum and a 192-bit sum of squares: 2^64 values of 2^126 fit.
type moments struct {
	sum wide
	sq  [3]uint64
}

func (m *moments) add(v int64) {
	m.sum = m.sum.plus(wide{lo: uint64(v), hi: v >> 63})
	mag := uint64(v)
	if v < 0 {
		mag = -mag
	}
	hi, lo := bits.Mul64(mag, mag)
	m.addSquares([3]uint64{lo, hi, 0})
}

func (m *moments) addSquares(o [3]uint64) {
	var c uint64
	m.sq[0], c = bits.Add64(m.sq[0], o[0], 0)
	m.sq[1], c = bits.Add64(m.sq[1], o[1], c)
	m.sq[2], _ = bits.Add64(m.sq[2], o[2], c)
}

// deviation returns the square root of (n·Σx² − (Σx)²) / (n·d), where d is n, or n−1 for a sample; the quotient is
// rounded once.
func (m *moments) deviation(n int64, population bool) float64 {
	sq := new(big.Int).SetUint64(m.sq[2])
	for i := 1; i >= 0; i-- {
		sq.Add(sq.Lsh(sq, 64), new(big.Int).SetUint64(m.sq[i]))
	}
	sum, count := m.sum.big(), big.NewInt(n)
	num := sq.Mul(sq, count)
	num.Sub(num, sum.Mul(sum, sum))
	den := big.NewInt(n)
	if !population {
		den.SetInt64(n - 1)
	}
	v, _ := new(big.Rat).SetFrac(num, den.Mul(den, count)).Float64()
	return math.Sqrt(v)
}

func (a *spreadInt) Grow(n int) { a.m.Grow(n) }

func (a *spreadInt) Add(slots []uint32, col *tuple.Column) error {
	a.m.Own(slots)
	for i, s := range slots {
		a.m.At(s).add(col.Int[i])
	}
	return nil
}

func (a *spreadInt) Merge(src Acc, from, to []uint32) error {
	o := src.(*spreadInt)
	for i, s := range from {
		m, x := a.m.At(to[i]), o.m.Get(s)
		m.sum = m.sum.plus(x.sum)
		m.addSquares(x.sq)
	}
	return nil
}

func (a *spreadInt) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	dst.Reset(tuple.Of(tuple.Float64))
	unit := math.Pow10(int(a.scale))
	for i, s := range slots {
		if tooFew(n[i], a.population) {
			dst.AppendNull()
			continue
		}
		m := a.m.Get(s)
		appendFloat(dst, m.deviation(n[i], a.population)/unit)
	}
	return 0
}

// tooFew says that a deviation of n values does not exist.
func tooFew(n int64, population bool) bool { return n == 0 || n == 1 && !population }

func (a *spreadInt) Snapshot(e *tuple.Encoder, slots []uint32) {
	words := make([]uint64, 0, 5*len(slots))
	for _, m := range gather(&a.m, slots) {
		words = append(words, m.sum.lo, uint64(m.sum.hi), m.sq[0], m.sq[1], m.sq[2])
	}
	e.Uint64s(words)
}

func (a *spreadInt) Restore(d *tuple.Decoder, n int) {
	words := d.Uint64s()
	if len(words) != 5*n {
		d.Fail("%d words of moments, want %d", len(words), 5*n)
		return
	}
	all := make([]moments, n)
	for i := range all {
		w := words[5*i:]
		all[i] = moments{sum: wide{lo: w[0], hi: int64(w[1])}, sq: [3]uint64{w[2], w[3], w[4]}}
	}
	scatter(d, &a.m, all, n)
}

func (a *spreadInt) Clear() { a.m.Clear() }

func (a *spreadInt) Fork() Acc {
	return &spreadInt{population: a.population, scale: a.scale, m: a.m.Fork()}
}

func (a *spreadInt) Bytes() int64 { return a.m.Bytes() }
