package balance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two of three, without putting back: each pair as often as drawing one after the other by weight gives it.
func TestReservoirOfTwo(t *testing.T) {
	const draws = 30_000
	weights := []float64{1, 2, 7}
	random := rand.New(rand.NewPCG(1, 1))
	left := make([]float64, 3) // how often each was not drawn
	for range draws {
		r := NewReservoir(2, random)
		for i, w := range weights {
			require.NoError(t, r.Offer(i, w))
		}
		items := r.Items()
		require.Len(t, items, 2)
		left[3-items[0]-items[1]]++
	}
	total, chi := 10.0, 0.0
	for i := range weights {
		a, b := weights[(i+1)%3], weights[(i+2)%3]
		expected := draws * (a/total*b/(total-a) + b/total*a/(total-b))
		chi += (left[i] - expected) * (left[i] - expected) / expected
	}
	require.Less(t, chi, 13.8, "%v", left)
}

// The first item is the one drawn first, so by weight alone.
func TestReservoirOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	first := 0
	for range 10_000 {
		r := NewReservoir(3, random)
		for i, w := range []float64{1, 0, 3} {
			require.NoError(t, r.Offer(i, w))
		}
		require.Len(t, r.Items(), 2, "weight 0 is never drawn")
		if r.Items()[0] == 2 {
			first++
		}
	}
	require.InDelta(t, 7_500, first, 200)
}

func TestReservoirRefuses(t *testing.T) {
	r := NewReservoir(0, rand.New(rand.NewPCG(1, 1)))
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, r.Offer(0, w), "a finite number from 0 is expected")
	}
	require.Empty(t, r.Items())
}
