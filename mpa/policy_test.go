package mpa

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/contracts"
)

func TestAsk(t *testing.T) {
	ask, err := Competitive.Ask(0, 1000, 500, 2)
	require.NoError(t, err)
	require.EqualValues(t, 750, ask, "worth half, one competitor")
	ask, err = Competitive.Ask(0, 1000, 500, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1000, ask, "alone it asks for all")
	ask, err = Competitive.Ask(0, 1000, 500, 1_000_000)
	require.NoError(t, err)
	require.EqualValues(t, 500, ask, "among many it asks for what it is worth")
	ask, err = Competitive.Ask(700, 700, 1, 3)
	require.NoError(t, err)
	require.EqualValues(t, 700, ask)
	ask, err = Truthful.Ask(100, 1000, 50, 3)
	require.NoError(t, err)
	require.EqualValues(t, 100, ask, "never below the range")
	ask, err = Fixed.Ask(100, 1000, 50, 3)
	require.NoError(t, err)
	require.EqualValues(t, 1000, ask)
}

func TestAskRefused(t *testing.T) {
	for _, c := range []struct {
		low, high, value int64
		sellers          int
		want             string
	}{{5, 4, 4, 1, "a lowest price from 0"}, {-1, 4, 4, 1, "a lowest price from 0"}, {0, 10, 11, 1, "loses money"}, {0, 10, 5, 0, "0 sellers"}} {
		_, err := Competitive.Ask(contracts.Price(c.low), contracts.Price(c.high), contracts.Price(c.value), c.sellers)
		require.ErrorContains(t, err, c.want)
	}
	_, err := ParsePolicy("greedy")
	require.ErrorContains(t, err, "truthful, fixed or competitive")
	for _, p := range []Policy{Truthful, Fixed, Competitive} {
		got, err := ParsePolicy(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
	}
}
