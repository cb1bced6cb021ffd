package contracts

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAmountText(t *testing.T) {
	for text, want := range map[string]Amount{"0": 0, "12": 12 * Micro, "0.95": 950_000, "-3.5": -3_500_000, "0.000001": 1, "9223372036854.775807": math.MaxInt64} {
		a, err := ParseAmount(text)
		require.NoError(t, err, text)
		require.Equal(t, want, a)
		require.Equal(t, text, a.String())
	}
	require.Equal(t, "-9223372036854.775808", Amount(math.MinInt64).String())
	for text, want := range map[string]string{"": "not an amount", "1e3": "not an amount", "1.": "not an amount", ".5": "not an amount", "+1": "not an amount", "1,5": "not an amount",
		"NaN": "not an amount", "Inf": "not an amount", "0.0000001": "7 decimals", "9223372036854.775808": "larger than an amount", "1 000": "not an amount", "--1": "not an amount",
		"111111111111111111111111111111111": "33 characters"} {
		_, err := ParseAmount(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := ParsePrice("-1")
	require.ErrorContains(t, err, "negative")
	_, err = ParsePrice("1000000001")
	require.ErrorContains(t, err, "above the highest price")
}

func TestAmountRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Amount(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "amount"))
		got, err := ParseAmount(a.String())
		require.NoError(t, err)
		require.Equal(t, a, got)
	})
}

// A sum is rounded once, half to even.
func TestPriceOf(t *testing.T) {
	for _, c := range []struct {
		price Price
		work  uint64
		want  Amount
	}{
		{1, PriceBasis, 1}, {1, PriceBasis / 2, 0}, {3, PriceBasis / 2, 2}, {1, PriceBasis/2 + 1, 1}, {950_000, 1_000, 1}, {0, math.MaxUint64, 0},
		{MaxPrice, PriceBasis * 9_000, 9_000_000_000_000 * Micro},
	} {
		got, err := c.price.Of(c.work)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%d units at %s", c.work, c.price)
	}
	_, err := MaxPrice.Of(math.MaxUint64)
	require.ErrorContains(t, err, "more than an amount can hold")
}
