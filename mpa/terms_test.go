package mpa

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/contracts"
)

const terms = `[contract]
kind = "load"
name = "peak"
parties = ["north", "south"]
givers = ["north"]
[validity]
from = 2027-01-01
until = 2028-01-01
[price]
currency = "EUR"
min = "0.9"
max = "1"
[tasks]
max_load = 500_000_000
max_task = 10_000_000
`

// Both parties see one contract, each from its side.
func TestContractOf(t *testing.T) {
	c, p := contracts.Read("c.toml", []byte(terms), contracts.Options{})
	require.NoError(t, p.Err())
	north, err := ContractOf(Signed{ID: "c1", Terms: c, Self: "north", Currency: "EUR"})
	require.NoError(t, err)
	require.Equal(t, Contract{ID: "c1", Partner: "south", Min: 900_000, Max: 1_000_000, Give: true, MaxLoad: 0.5, MaxTask: 0.01}, north)
	south, err := ContractOf(Signed{ID: "c1", Terms: c, Self: "south", Currency: "EUR"})
	require.NoError(t, err)
	require.Equal(t, Contract{ID: "c1", Partner: "north", Min: 900_000, Max: 1_000_000, Take: true, MaxLoad: 0.5, MaxTask: 0.01}, south)
	_, err = ContractOf(Signed{ID: "c1", Terms: c, Self: "east", Currency: "EUR"})
	require.ErrorContains(t, err, "not of east")
	_, err = ContractOf(Signed{ID: "c1", Terms: c, Self: "north", Currency: "USD"})
	require.ErrorContains(t, err, "prices in two currencies cannot be compared")
	c.Kind = contracts.Data
	_, err = ContractOf(Signed{ID: "c1", Terms: c, Self: "north", Currency: "EUR"})
	require.ErrorContains(t, err, "no load moves along it")
}
