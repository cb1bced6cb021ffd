package fault

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

func field() Field {
	return Field{
		Sources: []string{"s0", "s1"}, Fragments: [][]string{{"f1.0", "f1.1"}, {"f2.0"}}, Client: "client",
		Links: [][2]string{{"s0", "f1.0"}, {"f1.0", "f2.0"}}, Begin: 5 * tuple.Second, End: 60 * tuple.Second,
	}
}

// Where no time is left for trouble nothing is drawn, and in the least time that there can be something may.
func TestDrawnInNoTime(t *testing.T) {
	at := field()
	for _, end := range []int64{at.Begin, at.Begin - 1} {
		at.End = end
		require.Empty(t, Draw(rand.New(rand.NewPCG(1, 1)), at))
	}
	at.End = at.Begin + 1
	for seed := range uint64(200) {
		for _, f := range Draw(rand.New(rand.NewPCG(seed, 1)), at) {
			require.GreaterOrEqual(t, f.At, at.Begin)
		}
	}
}

// What is drawn lies in its time, hits every kind in the long run, and reads back as it prints.
func TestDrawn(t *testing.T) {
	seen := make([]int, Kinds)
	forever := 0
	for seed := range uint64(2000) {
		p := Draw(rand.New(rand.NewPCG(seed, 1)), field())
		for _, f := range p {
			seen[f.Kind]++
			require.GreaterOrEqual(t, f.At, field().Begin)
			if f.For == Forever {
				forever++
				require.True(t, strings.HasPrefix(f.A, "f1"), "f2 has one replica: %v", f)
			} else {
				require.LessOrEqual(t, f.End(), field().End)
			}
			got, err := Parse(f.String())
			require.NoError(t, err)
			require.Equal(t, f, got)
		}
	}
	for k, n := range seen {
		require.Positive(t, n, Kind(k))
	}
	require.Positive(t, forever)
}

// A line that is not a fault says what it lacks.
func TestRefused(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "at least",
		"x crash f1.0 for 3s":      "duration",
		"1s melt f1.0 for 3s":      "not known",
		"1s cut f1.0":              "two nodes",
		"1s loss f1.0 f2.0":        "amount",
		"1s loss a b 120% for 1s":  "chance",
		"1s slow a 40 for 1s":      "factor",
		"1s crash f1.0":            "length",
		"1s crash f1.0 for 3s now": "after its end",
		"-1s crash f1.0 for 3s":    "duration",
	} {
		_, err := Parse(line)
		require.ErrorContains(t, err, want, line)
	}
	_, err := ParsePlan([]string{"1s melt a for 1s", "2s crash a for 1s", "z"})
	require.ErrorContains(t, err, "melt")
	require.ErrorContains(t, err, "at least")
}

// The smallest plan that fails is found: here one that needs a cut of more than a second and a crash after it.
func TestMinimised(t *testing.T) {
	fails := func(p Plan) bool {
		for i, f := range p {
			if f.Kind != Cut || f.For <= tuple.Second {
				continue
			}
			for _, g := range p[i:] {
				if g.Kind == Crash {
					return true
				}
			}
		}
		return false
	}
	var found int
	for seed := range uint64(3000) {
		p := Draw(rand.New(rand.NewPCG(seed, 2)), field())
		if !fails(p) {
			continue
		}
		found++
		m := Minimise(p, 1000, fails)
		require.Len(t, m, 2)
		require.LessOrEqual(t, m[0].For, 2*tuple.Second)
		require.True(t, fails(m))
	}
	require.Positive(t, found)
}

// Minimising gives up in time.
func TestMinimiseTries(t *testing.T) {
	p := Draw(rand.New(rand.NewPCG(3, 2)), field())
	calls := 0
	Minimise(p, 5, func(Plan) bool { calls++; return true })
	require.LessOrEqual(t, calls, 5)
}
