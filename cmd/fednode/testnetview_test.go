package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/testnet"
)

// Each output of a query has its rows under a head of its own.
func TestTestnetShowsOutputsApart(t *testing.T) {
	s := &testnetScreen{now: testnet.View{Outputs: []string{"counts", "none", "rows"}}}
	for i := range 9 {
		_, err := s.result("rows", fmt.Appendf(nil, `{"id":%d,"stime":"2026-03-01T10:00:00Z","src":"north","n":%d}`, i, i))
		require.NoError(t, err)
	}
	_, err := s.result("counts", []byte(`{"id":1,"stime":"2026-03-01T10:00:00Z","window_start":"2026-03-01T10:00:00Z","window_end":"2026-03-01T10:00:01Z","rows":9}`))
	require.NoError(t, err)
	require.Equal(t, `  counts
  window_start  rows
  10:00            9
  none
  no results yet
  rows
  src    n
  north  6
  north  7
  north  8`, strings.Join(s.found(), "\n"))
}

// With one output nothing says which.
func TestTestnetShowsOneOutput(t *testing.T) {
	s := &testnetScreen{now: testnet.View{Outputs: []string{"rows"}}}
	_, err := s.result("rows", []byte(`{"id":1,"stime":"2026-03-01T10:00:00Z","n":7}`))
	require.NoError(t, err)
	require.Equal(t, "  n\n  7", strings.Join(s.found(), "\n"))
}

// Where nothing is redrawn the first line has neither rates nor a time up to which there are results: they are not known yet.
func TestTestnetProgress(t *testing.T) {
	s := &testnetScreen{now: testnet.View{Released: api.NoTime, Nodes: []testnet.NodeView{{ID: "north", Answers: true, Rows: 4200}, {ID: "south", State: testnet.StateKilled}}}}
	require.Equal(t, "north 4,200 rows, south killed, 0 results", s.progress())
	s.rates, s.results, s.now.Released = map[string]float64{"north": 1500}, 12, 61_000_000
	require.Equal(t, "north 4,200 rows (1,500/s), south killed, 12 results to 00:01:01", s.progress())
}
