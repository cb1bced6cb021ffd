package mpa

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func queue(t testing.TB) Queue {
	t.Helper()
	q, err := NewQueue(1, 1e6)
	require.NoError(t, err)
	return q
}

// anyCost draws a valid cost function.
func anyCost(t *rapid.T) Cost {
	capacity := rapid.Float64Range(0.01, 100).Draw(t, "capacity")
	scale := rapid.Float64Range(1, 1e9).Draw(t, "scale")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		q, err := NewQueue(capacity, scale)
		require.NoError(t, err)
		return q
	case 1:
		p, err := NewPower(capacity, scale, rapid.Float64Range(1, 10).Draw(t, "exponent"))
		require.NoError(t, err)
		return p
	}
	points, slope := []Point{{}}, 0.0
	for range rapid.IntRange(1, 8).Draw(t, "stretches") {
		last := points[len(points)-1]
		slope += rapid.Float64Range(1, 1e6).Draw(t, "steeper")
		width := rapid.Float64Range(0.01, 1).Draw(t, "width")
		points = append(points, Point{last.Load + width, last.Cost + slope*width})
	}
	table, err := NewTable(points)
	require.NoError(t, err)
	return table
}

// Cost rises, and rises faster the more load there is: at no load, below, at and above full, with no jump down anywhere.
func TestCostIsConvex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCost(t)
		size := rapid.Float64Range(1e-4, 0.2).Draw(t, "size")
		before, at := 0.0, -1.0
		for _, load := range []float64{0, 0.3, 0.5, 0.95, 0.97, 0.979, 0.98, 0.981, 1, 1.2, 2, 50} {
			added := Marginal(c, load, size)
			require.GreaterOrEqual(t, added, before*(1-1e-7), "a task costs less at load %g", load)
			require.GreaterOrEqual(t, c.At(load), at)
			require.False(t, math.IsInf(c.Slope(load), 0) || math.IsNaN(c.Slope(load)))
			before, at = added, c.At(load)
		}
	})
}

// The slope is what a very small task costs.
func TestSlope(t *testing.T) {
	power, err := NewPower(2, 3, 2.5)
	require.NoError(t, err)
	table, err := NewTable([]Point{{0, 0}, {1, 2}, {2, 7}})
	require.NoError(t, err)
	for _, c := range []Cost{queue(t), power, table} {
		for _, load := range []float64{0.2, 0.95, 0.99, 1.2, 1.7, 3} {
			const d = 1e-6
			require.InEpsilon(t, (c.At(load+d)-c.At(load-d))/(2*d), c.Slope(load), 1e-4, "%T at %g", c, load)
		}
	}
	require.Equal(t, 12.0, table.At(3), "beyond the last point as steep as before it")
}

func TestCostRefused(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{failure(NewQueue(0, 1)), "capacity 0"},
		{failure(NewQueue(math.NaN(), 1)), "capacity NaN"},
		{failure(NewQueue(1, math.Inf(1))), "scale +Inf"},
		{failure(NewPower(1, 1, 0.5)), "exponent 0.5: from 1 to 64"},
		{failure(NewPower(-1, 1, 2)), "capacity -1"},
		{failure(NewTable(nil)), "table of 0 points"},
		{failure(NewTable([]Point{{1, 0}, {2, 1}})), "first point of the cost table is at load 1"},
		{failure(NewTable([]Point{{0, 0}, {0, 1}})), "not above the one before"},
		{failure(NewTable([]Point{{0, 0}, {1, 5}, {2, 6}})), "not convex: at point 3"},
		{failure(NewTable([]Point{{0, 3}, {1, 1}})), "not convex: at point 2"},
		{failure(NewTable([]Point{{0, 0}, {math.Inf(1), 1}})), "finite numbers"},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
}

func failure[T any](_ T, err error) error { return err }

// The levels of a queue at the price that makes 0.8 full: figures that were computed by hand.
func TestLevels(t *testing.T) {
	q := queue(t)
	const price, size = 25e6, 0.01
	require.InDelta(t, 0.8, CapacityAt(q, price), 1e-9)
	level := OverloadLevel(q, size, price, 0.002*price)
	require.InDelta(t, 0.8050, level, 5e-4, "half a task above full, and what moving costs")
	require.False(t, Overloaded(q, level-1e-6, size, price, 0.002*price))
	require.True(t, Overloaded(q, level+1e-6, size, price, 0.002*price))
	require.True(t, HasRoom(q, 0.794, size, price))
	require.False(t, HasRoom(q, 0.796, size, price))
	linear, err := NewPower(1, 1, 1)
	require.NoError(t, err)
	require.True(t, math.IsInf(CapacityAt(linear, 2), 1), "never as dear as that")
}

// The price range that relays need, as published for M/M/1 at 0.8 and for a cube.
func TestRangeFor(t *testing.T) {
	q := queue(t)
	for _, c := range []struct {
		hops int
		size float64
		want float64
	}{{1, 0.01, 4.8}, {2, 0.01, 13.4}, {3, 0.01, 21}, {1, 0.05, 20}} {
		require.InDelta(t, c.want, 100*RangeFor(q, c.hops, c.size, 25e6, 0), 0.5, "%d hops of %g", c.hops, c.size)
	}
	cube, err := NewPower(1, 1e6, 3)
	require.NoError(t, err)
	price := cube.Slope(0.8)
	for hops, want := range []float64{1.2, 3.7, 6.1, 8.5} {
		require.InDelta(t, want, 100*RangeFor(cube, hops+1, 0.01, price, 0), 0.1)
	}
	require.Greater(t, RangeFor(q, 1, 0.01, 25e6, 0.05*25e6), RangeFor(q, 1, 0.01, 25e6, 0))
}
