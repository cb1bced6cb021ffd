package contracts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every clause of a full contract is shown once, with how it holds.
func TestClauses(t *testing.T) {
	seen := make(map[string]Clause)
	for _, c := range mustRead(t, whole).Clauses() {
		require.NotContains(t, seen, c.Name)
		require.NotEmpty(t, c.Value, c.Name)
		seen[c.Name] = c
	}
	for name, want := range map[string]Clause{
		"price.max":                  {Value: "1 EUR for 10^9 work units", Holds: Enforced},
		"caps.max_share_of_capacity": {Value: "30 %", Holds: Enforced},
		"availability.uptime":        {Value: "99.9 %", Holds: Evidenced},
		"availability.breach":        {Value: "1.5 EUR", Holds: Evidenced},
		"data.regions":               {Value: "EU", Holds: Promised},
		"privacy.at_end":             {Value: "delete", Holds: Promised},
		"signers.north":              {Value: "2 of A, B", Holds: Enforced},
		"contacts.north":             {Value: "Operations <noc@north.example> +49 30 1", Holds: Promised},
		"tasks.labels.class":         {Value: "research", Holds: Enforced},
	} {
		want.Name = name
		require.Equal(t, want, seen[name])
	}
}

func TestAdmit(t *testing.T) {
	set := mustRead(t, whole).Tasks
	work := Work{Query: "netmon", Operators: []string{"filter"}, Labels: map[string]string{"class": "research"}, Streams: []string{"flows"}, UDFs: true, State: 1 << 20, Load: 20_000}
	require.NoError(t, set.Admit(work))
	for says, change := range map[string]func(*Work){
		"tasks.queries":   func(w *Work) { w.Query = "other" },
		"tasks.operators": func(w *Work) { w.Operators = []string{"filter", "join"} },
		"tasks.labels":    func(w *Work) { w.Labels = nil },
		"tasks.streams":   func(w *Work) { w.Streams = []string{"south/x"} },
		"tasks.max_state": func(w *Work) { w.State = 65 << 20 },
		"tasks.max_task":  func(w *Work) { w.Load = 20_001 },
	} {
		w := work
		change(&w)
		require.ErrorContains(t, set.Admit(w), says)
	}
	set.UDFs = false
	require.ErrorContains(t, set.Admit(work), "tasks.udfs")
	all := mustRead(t, smallest).Tasks
	require.NoError(t, all.Admit(Work{Query: "any", Operators: []string{"join"}, Load: 1000}))
}
