package aggfn

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

func ints(v ...int64) *tuple.Column { return &tuple.Column{Type: tuple.Of(tuple.Int64), Int: v} }

func floats(v ...float64) *tuple.Column {
	return &tuple.Column{Type: tuple.Of(tuple.Float64), Float: v}
}

// resolve makes an accumulator of a call with one slot.
func resolve(t *testing.T, name string, arg tuple.Type, params ...float64) Acc {
	t.Helper()
	f, err := Resolve(name, &arg, params)
	require.NoError(t, err)
	a := f.New()
	a.Grow(1)
	return a
}

// result adds a column to slot 0 and returns the one result.
func result(t *testing.T, a Acc, col *tuple.Column) *tuple.Column {
	t.Helper()
	require.NoError(t, a.Add(make([]uint32, col.Rows()), col))
	var dst tuple.Column
	a.Result(&dst, []uint32{0}, []int64{int64(col.Rows())})
	require.Equal(t, 1, dst.Rows())
	return &dst
}

// The sum keeps 128 bits: whatever it passes on its way, the end decides; means divide the exact sum and round once.
func TestExactSums(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		vals, exact := make([]int64, 1+rng.IntN(60)), new(big.Int)
		for i := range vals {
			vals[i] = int64(rng.Uint64()) >> rng.IntN(64)
			exact.Add(exact, big.NewInt(vals[i]))
		}
		sum := result(t, resolve(t, "sum", tuple.Of(tuple.Int64)), ints(vals...))
		require.Equal(t, !exact.IsInt64(), sum.IsNull(0))
		if exact.IsInt64() {
			require.Equal(t, exact.Int64(), sum.Int[0])
		}
		mean, _ := new(big.Rat).SetFrac(exact, big.NewInt(int64(len(vals)))).Float64()
		require.Equal(t, mean, result(t, resolve(t, "avg", tuple.Of(tuple.Int64)), ints(vals...)).Float[0])
	}
}

// A mean of decimals has six more digits, half to even, and at most 18 in all.
func TestDecimalMean(t *testing.T) {
	d := func(scale uint8, v ...int64) *tuple.Column {
		return &tuple.Column{Type: tuple.DecimalType(scale), Int: v}
	}
	mean := func(scale uint8, v ...int64) *tuple.Column {
		return result(t, resolve(t, "avg", tuple.DecimalType(scale)), d(scale, v...))
	}
	require.Equal(t, tuple.DecimalType(8), mean(2, 1).Type)
	require.Equal(t, int64(33333333), mean(2, 100, 0, 0).Int[0])
	require.Equal(t, int64(66666667), mean(2, 100, 100, 0).Int[0])
	require.Equal(t, int64(-66666667), mean(2, -100, -100, 0).Int[0])
	require.Equal(t, int64(0), mean(18, 1, 0).Int[0], "a half goes to the even neighbour")
	require.Equal(t, int64(2), mean(18, 3, 0).Int[0])
	require.Equal(t, int64(2), mean(18, 5, 0).Int[0])
	require.True(t, mean(2, maxDecimal).IsNull(0), "out of range with six more digits")
}

// Deviations of integers are exact before the root; those of floats by one pass agree to the last few digits.
func TestStddev(t *testing.T) {
	require.Equal(t, 2.0, result(t, resolve(t, "stddev_pop", tuple.Of(tuple.Int64)), ints(2, 4, 4, 4, 5, 5, 7, 9)).Float[0])
	big := result(t, resolve(t, "stddev", tuple.Of(tuple.Int64)), ints(math.MaxInt64, math.MinInt64))
	require.InEpsilon(t, math.Ldexp(1, 64)/math.Sqrt2, big.Float[0], 1e-15)
	shifted := result(t, resolve(t, "stddev", tuple.Of(tuple.Float64)), floats(1e9+4, 1e9+7, 1e9+13, 1e9+16))
	require.InEpsilon(t, math.Sqrt(30), shifted.Float[0], 1e-12)
	require.True(t, result(t, resolve(t, "stddev", tuple.Of(tuple.Int64)), ints(5)).IsNull(0))
	require.Zero(t, result(t, resolve(t, "stddev_pop", tuple.Of(tuple.Int64)), ints(5)).Float[0])
}

// The estimate is exact for few values, within 2 % for a million, and the same for every order and every way to merge.
func TestApproxCountDistinct(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, sparseMax, sparseMax + 1, 5_000, 50_000, 1_000_000} {
		vals := make([]int64, n)
		for i := range vals {
			vals[i] = int64(i) * 7
		}
		a := resolve(t, "approx_count_distinct", tuple.Of(tuple.Int64))
		got := result(t, a, ints(vals...)).Int[0]
		if n <= sparseMax {
			require.Equal(t, int64(n), got)
			continue
		}
		require.InEpsilon(t, n, got, 0.02, "of %d", n)
		rng.Shuffle(n, func(i, j int) { vals[i], vals[j] = vals[j], vals[i] })
		left, right := resolve(t, "approx_count_distinct", tuple.Of(tuple.Int64)), resolve(t, "approx_count_distinct", tuple.Of(tuple.Int64))
		cut := rng.IntN(n)
		require.NoError(t, left.Add(make([]uint32, cut), ints(vals[:cut]...)))
		require.NoError(t, right.Add(make([]uint32, n-cut), ints(vals[cut:]...)))
		require.NoError(t, left.Merge(right, []uint32{0}, []uint32{0}))
		var dst tuple.Column
		left.Result(&dst, []uint32{0}, []int64{int64(n)})
		require.Equal(t, got, dst.Int[0])
	}
}

// A quantile is exact over few distinct values and within 0.4 % of the exact one over many; NaN is the greatest.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, n := range []int{1, 2, 64, 65, 10_000} {
		for _, q := range []float64{0, 0.01, 0.5, 0.95, 1} {
			vals := make([]float64, n)
			for i := range vals {
				vals[i] = (rng.Float64() - 0.3) * math.Exp(float64(rng.IntN(20)))
			}
			got := result(t, resolve(t, "quantile", tuple.Of(tuple.Float64), q), floats(vals...)).Float[0]
			slices.Sort(vals)
			want := vals[max(1, int(math.Ceil(q*float64(n))))-1]
			if n <= exactMax {
				require.Equal(t, want, got)
			} else {
				require.InEpsilon(t, want, got, 0.004)
			}
		}
	}
	require.True(t, math.IsNaN(result(t, resolve(t, "quantile", tuple.Of(tuple.Float64), 1), floats(1, math.NaN(), math.Inf(1))).Float[0]))
}

// The order of floats: -Inf < numbers < +Inf < NaN, and -0 is 0.
func TestFloatRank(t *testing.T) {
	order := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.Inf(1), math.NaN()}
	for i, v := range order {
		require.True(t, tuple.CompareFloat(unrankFloat(rankFloat(v)), v) == 0)
		if i > 0 {
			require.Less(t, rankFloat(order[i-1]), rankFloat(v))
		}
	}
	require.Equal(t, rankFloat(0), rankFloat(math.Copysign(0, -1)))
}

// Every function is documented by its shape, refuses what it cannot take and says what it expected.
func TestResolve(t *testing.T) {
	list := tuple.ListOf(tuple.Of(tuple.Int64))
	for _, name := range Names() {
		shape, ok := Shape(name)
		require.True(t, ok)
		require.Contains(t, shape, name+"(x")
		var params []float64
		for _, p := range Params(name) {
			params = append(params, p.Hi)
		}
		if name == "count" || name == "count_distinct" || name == "approx_count_distinct" || name == "first" || name == "last" {
			_, err := Resolve(name, &list, params)
			require.NoError(t, err)
			continue
		}
		_, err := Resolve(name, &list, params)
		require.ErrorContains(t, err, "of list(int64): expected")
		_, err = Resolve(name, nil, params)
		require.ErrorContains(t, err, "needs an argument")
	}
	_, err := Resolve("median", &list, nil)
	require.ErrorContains(t, err, "median")
}
