package testnet

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/spec"
)

func TestSpecFile(t *testing.T) {
	s, err := parseSpec("/etc/fed/net.toml", []byte(`
[testnet]
organisations = ["a", "b"]
nodes = 5
data = ["x.csv", "/y.csv"]
query = "q.toml"
speed = 0
`))
	require.NoError(t, err)
	require.Equal(t, Spec{Mode: ModeProcess, Organisations: []string{"a", "b"}, Nodes: 5, Seed: 1, Query: "/etc/fed/q.toml", Data: []string{"/etc/fed/x.csv", "/y.csv"}}, s)
}

// TestSpecFileWrong: every error of a file is said at once, with its place.
func TestSpecFileWrong(t *testing.T) {
	_, err := parseSpec("net.toml", []byte("[testnet]\nmode = \"netns\"\nnods = 3\nspeed = \"fast\"\n"))
	var e *spec.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Problems, 3)
	require.Contains(t, err.Error(), "net.toml:2:8")
	require.Contains(t, err.Error(), "nodes", "a near name")
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"mode":          func(s *Spec) { s.Mode = "netns" },
		"no orgs":       func(s *Spec) { s.Organisations = nil },
		"twice":         func(s *Spec) { s.Organisations = []string{"a", "a"} },
		"bad name":      func(s *Spec) { s.Organisations = []string{"../a"} },
		"too many":      func(s *Spec) { s.Nodes = 100 },
		"negative":      func(s *Spec) { s.Nodes = -1 },
		"speed":         func(s *Spec) { s.Speed = -1 },
		"negative rows": func(s *Spec) { s.Rows = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := Default()
			require.NoError(t, s.Validate())
			change(&s)
			require.ErrorIs(t, s.Validate(), ErrSpec)
		})
	}
}

// TestFaultsElsewhere: faults of other modes are refused by name, unknown ones as such.
func TestFaultsElsewhere(t *testing.T) {
	for _, f := range OtherFaults() {
		require.ErrorContains(t, CheckFault(f), "not available in mode process")
	}
	err := CheckFault("explode")
	require.True(t, errors.Is(err, ErrSpec))
	require.ErrorContains(t, err, "kill, stop, restart")
}
