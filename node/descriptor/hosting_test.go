package descriptor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/config"
)

func TestMayHost(t *testing.T) {
	d := sample(t)
	plan, err := d.Plan()
	require.NoError(t, err)
	stopped := *d
	stopped.State = Stopped
	south := func(hosts ...config.Host) Rules { return Rules{Own: "south", Peer: peerID(t, 2), Hosts: hosts} }
	north := Rules{Own: "north", Peer: peerID(t, 1)}
	for name, c := range map[string]struct {
		rules    Rules
		d        *Descriptor
		fragment string
		running  int
		limits   Limits
		clause   string
		text     string
	}{
		"our own": {rules: north, fragment: "count", running: 1000},
		"nothing allowed": {rules: south(), fragment: "low", clause: clauseHost,
			text: `south hosts nothing for org "north"; ask south to add [[federation.host]] with org = "north" and operators = ["filter"]; fragment "low" of query "north/netmon" needs it`},
		"somebody else allowed": {rules: south(config.Host{Org: "east", MaxFragments: 9}), fragment: "low", clause: clauseHost},
		"allowed":               {rules: south(config.Host{Org: "north", Operators: []string{"filter"}, MaxFragments: 2, MaxMemory: 5 << 20}), fragment: "low", running: 1, limits: Limits{MaxMemory: 5 << 20}},
		"every kind allowed":    {rules: south(config.Host{Org: "north", MaxFragments: 1, MaxMemory: 1}), fragment: "low", limits: Limits{MaxMemory: 1}},
		"another kind allowed": {rules: south(config.Host{Org: "north", Operators: []string{"map", "join"}, MaxFragments: 2}), fragment: "low", clause: clauseOperators,
			text: `federation.host for org "north" does not allow operator kind "filter"; ask south to add it to operators; fragment "low" of query "north/netmon" needs it`},
		"enough of it": {rules: south(config.Host{Org: "north", MaxFragments: 2}), fragment: "low", running: 2, clause: clauseFragments,
			text: `federation.host for org "north" allows max_fragments = 2 and as many run; ask south to raise it to 3; fragment "low" of query "north/netmon" needs it`},
		"not assigned": {rules: south(config.Host{Org: "north", MaxFragments: 2}), fragment: "suspects", clause: clauseAssignment},
		"stopped":      {rules: north, d: &stopped, fragment: "count", clause: clauseState},
	} {
		t.Run(name, func(t *testing.T) {
			if c.d == nil {
				c.d = d
			}
			limits, err := c.rules.MayHost(c.d, plan.Fragment(c.fragment), c.running)
			if c.clause == "" {
				require.NoError(t, err)
				require.Equal(t, c.limits, limits)
				return
			}
			require.ErrorIs(t, err, ErrNotHosted)
			var e *NotHostedError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.clause, e.Clause)
			require.Equal(t, c.fragment, e.Fragment)
			require.NotEmpty(t, e.Need)
			if c.text != "" {
				require.EqualError(t, err, c.text)
			}
		})
	}
}

// A union that the plan turns into an SUnion is asked for all the same.
func TestMayHostCountsMergedUnions(t *testing.T) {
	d := sample(t)
	plan, err := d.Plan()
	require.NoError(t, err)
	d.Assignments[1] = Assignment{"count", "south", "s1", peerID(t, 2)}
	r := Rules{Own: "south", Peer: peerID(t, 2), Hosts: []config.Host{{Org: "north", Operators: []string{"filter"}, MaxFragments: 2}}}
	_, err = r.MayHost(d, plan.Fragment("count"), 0)
	var e *NotHostedError
	require.ErrorAs(t, err, &e)
	require.Equal(t, `"aggregate", "union"`, e.Need)
	require.Equal(t, `"filter"`, e.Have)
	require.ErrorContains(t, err, `operator kinds "aggregate", "union"; ask south to add them`)
}
