package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/config"
	"fednode/query"
	"fednode/query/tuple"
)

// TestAvailabilityOfAQuery shows that what a query says of availability counts, with the intervals of the node, and that a
// source which may be silent for long before its first row is not taken for a failed one.
func TestAvailabilityOfAQuery(t *testing.T) {
	at := query.Placement{Home: query.Place{Org: "north", Node: "n1"}}
	settings := func(src string) dcaa.Settings {
		diagram, problems := query.Parse("q.toml", []byte(src), query.Options{Placement: at})
		require.NoError(t, problems.Err())
		d := &deployment{plan: query.NewPlan(diagram, at, problems), owner: "north", query: "q", n: &Node{cfg: &config.Config{
			Availability: config.Availability{Heartbeat: 50_000_000, Miss: 5, Grace: 30_000_000, ClockSkew: 70_000_000}}}}
		place := d.standing(d.plan.Fragments[0])[0]
		require.Equal(t, dcaa.Place{Depth: 1, Path: 2, Slack: 2 * tuple.Second, Lag: 3 * tuple.Second, Skew: 70 * tuple.Millisecond}, place,
			"slack and lag of the source, and skew of clocks")
		return d.availability()
	}
	src := strings.Replace(sinkQuery, `stream = "south/a"`, "stream = \"south/a\"\nmax_out_of_order = \"2s\"\nlag = \"3s\"\ninit_delay = \"20s\"", 1)
	want := dcaa.DefaultSettings()
	want.Heartbeat, want.Miss, want.Grace, want.InitDelay = 50*tuple.Millisecond, 5, 30*tuple.Millisecond, 20*tuple.Second
	require.Equal(t, want, settings(src))

	want.MaxDelay, want.Failure, want.Stabilization = dcaa.Unbounded, dcaa.Suspend, dcaa.Delay
	require.Equal(t, want, settings(strings.Replace(src, `max_delay = "3s"`, "max_delay = \"inf\"\nfailure = \"suspend\"\nstabilization = \"delay\"", 1)))
}
