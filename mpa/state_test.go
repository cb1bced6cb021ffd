package mpa

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// reborn is a participant that went down and came again, by what it has written.
func reborn(t *testing.T, m *Machine) *Machine {
	t.Helper()
	written, err := json.Marshal(m.State())
	require.NoError(t, err)
	var read State
	require.NoError(t, json.Unmarshal(written, &read))
	agreed := make([]Contract, 0, len(m.contracts))
	for _, c := range m.contracts {
		agreed = append(agreed, c.Contract)
	}
	again, err := Restore(m.cfg, 1000*Instant(second), agreed, read)
	require.NoError(t, err)
	checkBooks(t, again)
	return again
}

// A taker answers each number once, also over a restart: the same gets the same answer, a lower one none; and what it has
// settled stays settled.
func TestTakerKeepsItsWord(t *testing.T) {
	m := bystander(t)
	first := tell(m, "b", from("b", 5, 0.01, 1))
	m = reborn(t, m)
	require.Equal(t, first, tell(m, "b", from("b", 5, 0.01, 1, 2, 3)))
	require.Empty(t, tell(m, "b", from("b", 4, 0.01, 1)))
	commit := Message{Kind: Commit, Number: 5, Tasks: []TaskID{{"b", 1}}}
	settled := tell(m, "b", commit)
	require.Len(t, settled[0].Tasks, 1)
	m = reborn(t, m)
	require.Equal(t, settled, tell(m, "b", commit))
	_, expected := m.Arrived(m.now, TaskID{"b", 1})
	require.True(t, expected)
}

// A giver that has committed says so again after a restart, and never uses a number twice.
func TestGiverGoesOn(t *testing.T) {
	m, id := giver(t, 0.9), TaskID{"a", 0}
	n := said(t, m, Offer).Number
	m = reborn(t, m)
	offer := said(t, m, Offer)
	require.Equal(t, n+1, offer.Number)
	answer(m, Message{Kind: Answer, Number: offer.Number, Tasks: []TaskID{id}})
	m = reborn(t, m)
	require.Equal(t, []TaskID{id}, said(t, m, Commit).Tasks)
	answer(m, Message{Kind: Settled, Number: offer.Number, Tasks: []TaskID{id}})
	require.Len(t, m.Ready().Migrate, 1)
	m = reborn(t, m)
	m.Left(m.now, id, true)
	require.Len(t, reborn(t, m).given, 1)
}

// A state that cannot be is refused.
func TestRestoreRefuses(t *testing.T) {
	m := bystander(t)
	own := TaskState{Task: TaskID{"a", 7}, Load: 0.1}
	for _, c := range []struct {
		state State
		want  string
	}{
		{State{Tasks: []TaskState{own, own}}, "a/7 is named twice"},
		{State{Tasks: []TaskState{{Task: TaskID{"a", 7}, Load: -1}}}, "load -1"},
		{State{Tasks: []TaskState{{Task: TaskID{"x", 7}, Load: 1}}}, "came under no contract"},
		{State{Tasks: []TaskState{{Task: TaskID{"x", 7}, Load: 1, Inward: "z", Chain: []Party{"x"}}}}, "no terms"},
		{State{Tasks: []TaskState{{Task: TaskID{"a", 7}, Load: 1, To: "z"}}}, "has no terms"},
		{State{Contracts: []ContractState{{ID: "z"}}}, "contract z has no terms"},
	} {
		_, err := Restore(m.cfg, 0, []Contract{m.contract("c").Contract}, c.state)
		require.ErrorContains(t, err, c.want)
	}
}
