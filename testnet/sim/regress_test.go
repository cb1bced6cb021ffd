package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// Cases that broke a promise once, or show a rule, hold.
func TestRegress(t *testing.T) {
	files, err := filepath.Glob("testdata/regress/*.toml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			c, drawn, err := ReadCase(file, src)
			require.NoError(t, err)
			require.False(t, drawn, "a regression has its faults")
			r, err := Execute(c, Options{})
			require.NoError(t, err)
			require.Nil(t, r.Breach)
		})
	}
}

// covered runs a kept case, which holds, and returns what it has shown.
func covered(t *testing.T, name string) Coverage {
	t.Helper()
	file := filepath.Join("testdata/regress", name)
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	c, _, err := ReadCase(file, src)
	require.NoError(t, err)
	r, err := Execute(c, Options{})
	require.NoError(t, err)
	require.Nil(t, r.Breach)
	return r.Coverage
}

// Two replicas each of which lacks the lane that the other one has take over that lane alone.
func TestLaneByLane(t *testing.T) {
	c := covered(t, "lane-by-lane.toml")
	require.EqualValues(t, 2, c.Parts)
	require.Zero(t, c.Gaps)
}

// Corrections that stop half way renew the forks.
func TestHalfCorrected(t *testing.T) {
	require.Positive(t, covered(t, "half-corrected.toml").Renewals)
}

// Some seeds hold; many more are for make sim.
func TestSeeds(t *testing.T) {
	var p Progress
	c := Campaign{First: 1, Runs: 12, Workers: 2}
	p, failures, err := c.Run(t.Context())
	require.NoError(t, err)
	for i := range failures {
		t.Errorf("%s\n%s", &failures[i].Breach, failures[i].Case.AppendTOML(nil))
	}
	require.Equal(t, 12, p.Runs)
	require.Positive(t, p.Tentative)
}

// What a seed draws is the same each time, differs from seed to seed, and reads back as it prints.
func TestDrawnCases(t *testing.T) {
	seen := make(map[string]bool)
	shapes := make(map[topology.Shape]bool)
	for seed := range uint64(200) {
		c, err := DrawCase(seed)
		require.NoError(t, err)
		again, err := DrawCase(seed)
		require.NoError(t, err)
		require.Equal(t, c, again)
		text := string(c.AppendTOML(nil))
		require.False(t, seen[text])
		seen[text], shapes[c.Spec.Shape] = true, true
		got, drawn, err := ReadCase("case.toml", []byte(text))
		require.NoError(t, err, text)
		require.False(t, drawn)
		require.Equal(t, c, got)
	}
	require.Len(t, shapes, 6)
}

// A campaign goes on over failures when it is told to, tells each as soon as it is found, and returns them in order.
func TestCampaignKeepsGoing(t *testing.T) {
	s := topology.Default()
	s.Fragments, s.Trouble, s.Settle = 1, 5_000_000, 0
	told, ended := 0, 0
	c := Campaign{First: 380, Runs: 12, Workers: 3, Spec: &s, KeepGoing: true}
	c.Broke = func(f *Failure) {
		told++
		require.NotEmpty(t, f.Breach.Promise)
	}
	c.Done = func(p Progress) {
		ended++
		require.Equal(t, ended, p.Runs)
		require.Equal(t, told, p.Failures)
	}
	p, failures, err := c.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 12, p.Runs)
	require.NotEmpty(t, failures)
	require.Len(t, failures, told)
	for i := 1; i < len(failures); i++ {
		require.Less(t, failures[i-1].Case.Seed, failures[i].Case.Seed)
	}
}

// A case that fails is made smaller and still fails, the same way.
func TestMinimiseCase(t *testing.T) {
	s := topology.Default()
	s.Fragments, s.Trouble, s.Settle = 1, 5_000_000, 0
	faults, err := fault.ParsePlan([]string{"5.5s reset s0 f1.0", "6s crash f1.0 for 4s", "8s cut s1 f1.1 for 2s"})
	require.NoError(t, err)
	c := Case{Seed: 3, Spec: s, Faults: faults}
	r, err := Execute(c, Options{})
	require.NoError(t, err)
	require.NotNil(t, r.Breach)
	small, breach, err := Minimise(c, *r.Breach, 200)
	require.NoError(t, err)
	require.Less(t, len(small.Faults), 3)
	again, err := Execute(small, Options{})
	require.NoError(t, err)
	require.Equal(t, breach, *again.Breach)
}
