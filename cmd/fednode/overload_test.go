package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

// TestOverloads shows when a person is told that a fragment cannot correct what a failure leaves, and what to do.
func TestOverloads(t *testing.T) {
	bound := 3.0
	for name, c := range map[string]struct {
		load     float64
		loses    bool
		replicas int
		bound    *float64
		want     string
	}{
		"calm":                  {0.3, false, 1, &bound, ""},
		"one replica at work":   {0.6, false, 1, &bound, "  fragment f works 60 % of the time: above 50 % with one replica corrections never end; add a replica\n"},
		"two replicas at work":  {0.6, false, 2, &bound, ""},
		"stable results only":   {0.6, false, 1, nil, ""},
		"a redo that is losing": {1, true, 2, &bound, "  fragment f cannot catch up: add a replica\n"},
	} {
		q := &api.QueryStatus{Fragments: []api.FragmentStatus{{Name: "f", Load: c.load, CannotCatchUp: c.loses, Outputs: []api.OutputStatus{{Bound: c.bound}}}}}
		for range c.replicas {
			q.Assignments = append(q.Assignments, api.Assignment{Fragment: "f"})
		}
		var out strings.Builder
		printOverloads(&out, q)
		require.Equal(t, c.want, out.String(), name)
	}
}
