package tupletest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"fednode/query/tuple"
)

// Source returns the source of randomness of a seed.
func Source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x66656e)) }

// Types returns every type there is, decimals with a few scales.
func Types() []tuple.Type {
	var all []tuple.Type
	for k := tuple.Bool; k < tuple.List; k++ {
		if k == tuple.Decimal {
			all = append(all, tuple.DecimalType(0), tuple.DecimalType(2), tuple.DecimalType(18))
		} else {
			all = append(all, tuple.Of(k))
		}
	}
	for _, elem := range all {
		all = append(all, tuple.ListOf(elem))
	}
	return all
}

// Schema returns a schema of 1 to 8 columns.
func Schema(r *rand.Rand) *tuple.Schema {
	types := Types()
	fields := make([]tuple.Field, 1+r.IntN(8))
	for i := range fields {
		fields[i] = tuple.Field{Name: fmt.Sprintf("c%d", i), Type: types[r.IntN(len(types))]}
		if r.IntN(4) == 0 {
			fields[i].Form = tuple.Form(r.IntN(int(tuple.PrefixPseudonym) + 1))
			if fields[i].Form >= tuple.Pseudonym {
				fields[i].Key = "k7"
			}
		}
	}
	return tuple.MustSchema(fields...)
}

// Batches returns n batches of up to rows rows out of one builder, so that their dictionaries share lineages. Stimes
// rise slowly from start.
func Batches(r *rand.Rand, s *tuple.Schema, n, rows int, start tuple.Time) []*tuple.Batch {
	b := tuple.NewBatchBuilder(s)
	out := make([]*tuple.Batch, n)
	for i := range out {
		for range r.IntN(rows + 1) {
			start += tuple.Time(r.IntN(5))
			Row(r, b)
			b.EndRow(start)
		}
		out[i] = disguise(r, b.Take())
	}
	return out
}

// disguise gives some batches a selection or plain dictionaries: other encodings of rows.
func disguise(r *rand.Rand, b *tuple.Batch) *tuple.Batch {
	switch r.IntN(4) {
	case 0:
		sel := []uint32{}
		for i := range b.Time {
			if r.IntN(3) > 0 {
				sel = append(sel, uint32(i))
			}
		}
		b.Sel = sel
	case 1:
		for i := range b.Cols {
			if b.Cols[i].Type.Kind.IsBinary() {
				b.Cols[i] = Plain(&b.Cols[i])
			}
		}
	}
	return b
}

// Plain returns a binary column with the same rows in a dictionary with one value a row.
func Plain(c *tuple.Column) tuple.Column {
	p := tuple.Column{Type: c.Type, Valid: c.Valid, Code: make([]uint32, len(c.Code))}
	off, data := []uint32{0}, []byte{}
	for i := range c.Code {
		if !c.IsNull(i) {
			data = append(data, c.Bin(i)...)
			p.Code[i] = uint32(i)
		}
		off = append(off, uint32(len(data)))
	}
	p.Dict = tuple.NewDict(off, data, false)
	return p
}

// Row appends one value to every column; EndRow is the caller's.
func Row(r *rand.Rand, b *tuple.BatchBuilder) {
	for i, f := range b.Schema().Fields() {
		if r.IntN(8) == 0 {
			b.AppendNull(i)
			continue
		}
		if f.Type.Kind != tuple.List {
			value(r, b, i, f.Type.Kind)
			continue
		}
		for range r.IntN(4) {
			element(r, b, i, f.Type.Elem)
		}
		b.EndList(i)
	}
}

func value(r *rand.Rand, b *tuple.BatchBuilder, i int, k tuple.Kind) {
	switch {
	case k == tuple.Bool:
		b.AppendBool(i, r.IntN(2) == 0)
	case k == tuple.Float64:
		b.AppendFloat(i, Float(r))
	case k.IsBinary():
		b.AppendBin(i, Bin(r, k))
	default:
		b.AppendInt(i, Int(r, k))
	}
}

func element(r *rand.Rand, b *tuple.BatchBuilder, i int, k tuple.Kind) {
	e := b.Col(i).Elem
	switch {
	case r.IntN(8) == 0:
		e.AppendNull()
		return
	case k.IsBinary():
		b.AppendElemBin(i, Bin(r, k))
		return
	case k == tuple.Bool:
		e.Bool = append(e.Bool, r.IntN(2) == 0)
	case k == tuple.Float64:
		e.Float = append(e.Float, Float(r))
	default:
		e.Int = append(e.Int, Int(r, k))
	}
	if e.Valid != nil {
		e.Valid = append(e.Valid, true)
	}
}

// Int returns a value of a kind that lives in integers; decimals stay within 18 digits.
func Int(r *rand.Rand, k tuple.Kind) int64 {
	const maxDecimal = 999_999_999_999_999_999
	extreme := [...]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 9007199254740993}
	if k == tuple.Decimal {
		extreme = [...]int64{0, 1, -1, maxDecimal, -maxDecimal, 9007199254740993}
	}
	if r.IntN(4) == 0 {
		return extreme[r.IntN(len(extreme))]
	}
	return r.Int64N(200_000) - 100_000
}

// Float returns a float, sometimes a special one.
func Float(r *rand.Rand) float64 {
	special := [...]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}
	if r.IntN(4) == 0 {
		return special[r.IntN(len(special))]
	}
	return r.NormFloat64() * 1000
}

// Bin returns the bytes of a value of a binary kind, out of few so that they repeat.
func Bin(r *rand.Rand, k tuple.Kind) []byte {
	n := byte(r.IntN(40))
	switch k {
	case tuple.IP:
		v := [16]byte{10: 0xFF, 11: 0xFF, 12: 10, 15: n}
		if n%2 == 0 {
			v = [16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 15: n}
		}
		return v[:]
	case tuple.CIDR:
		v := [17]byte{10: 0xFF, 11: 0xFF, 12: n, 16: 104}
		return v[:]
	case tuple.Bytes:
		return []byte{n, 0, 0xFF}[:r.IntN(4)]
	}
	if n == 0 {
		return nil
	}
	return fmt.Appendf(nil, "value-%d-ü\n\"", n)
}
