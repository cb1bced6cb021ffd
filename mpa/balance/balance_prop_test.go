package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// organisation draws nodes and units with capabilities, labels, replicas, several resources and capacities.
func organisation(t *rapid.T) (*Balancer, []Unit) {
	cfg := Default()
	cfg.Migrator = rapid.SampledFrom(Migrators()).Draw(t, "migrator")
	cfg.Settle = rapid.IntRange(0, 4).Draw(t, "settle")
	cfg.Limit = rapid.Float64Range(30, 90).Draw(t, "limit")
	cfg.Target = rapid.Float64Range(0.2, 30).Draw(t, "target")
	cfg.Threshold = rapid.Float64Range(0, 20).Draw(t, "threshold")
	b, err := New(cfg)
	require.NoError(t, err)
	nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
	unequal := rapid.Bool().Draw(t, "unequal")
	for i := range nodes {
		n := Node{ID: NodeID(fmt.Sprintf("n%d", i)), Weight: 1, Labels: Labels{"zone": fmt.Sprint(i % 2)}, Provides: []Capability{"kind:filter"},
			Capacity: Capacity{100, 100, math.Inf(1), 100}, Rack: fmt.Sprint(i % 3)}
		if i%3 > 0 {
			n.Provides = append(n.Provides, "udf:geo")
		}
		if unequal {
			n.Capacity[CPU] *= rapid.Float64Range(0.5, 3).Draw(t, "cores")
			n.Capacity[Memory] *= rapid.Float64Range(0.5, 3).Draw(t, "memory")
		}
		require.NoError(t, b.Join(n))
	}
	var units []Unit
	for k := range rapid.IntRange(0, 25).Draw(t, "units") {
		u := Unit{ID: UnitID(fmt.Sprintf("u%02d", k)), Needs: []Capability{"kind:filter"}}
		for s := range u.Expected {
			u.Expected[s] = rapid.Float64Range(0, 25).Draw(t, "load")
		}
		switch rapid.IntRange(0, 5).Draw(t, "sort") {
		case 0:
			u.Needs = append(u.Needs, "udf:geo")
		case 1:
			u.Required = Labels{"zone": "1"}
		case 2:
			u.Preferred = Labels{"zone": "0"}
		case 3:
			u.Replicas = rapid.SampledFrom([]string{"r", "s"}).Draw(t, "replicas")
		}
		units = append(units, u)
		on := NodeID(fmt.Sprintf("n%d", rapid.IntRange(0, nodes-1).Draw(t, "on")))
		require.NoError(t, b.Adopt(u, on))
	}
	return b, units
}

// objective is what falls with every move: the squares of what the migrator goes by, each times its node's size.
func objective(b *Balancer, scale float64) (sum float64) {
	for _, n := range b.nodes {
		x := b.figureOf(n, b.loadOf(&n.smoothed, &n.raw), scale)
		sum += b.sizeOf(n) * x * x
	}
	return sum
}

// placement says which unit is where.
func placement(b *Balancer) string {
	var list []NodeID
	for _, u := range b.units {
		list = append(list, u.on.ID)
	}
	return fmt.Sprint(list)
}

func report(t require.TestingT, b *Balancer, except int, factor func(*unit) float64) {
	for i, n := range slices.Clone(b.nodes) {
		if i == except {
			continue
		}
		var list []Reading
		for _, u := range n.units {
			list = append(list, Reading{Unit: u.ID, Load: u.Expected.times(factor(u))})
		}
		require.NoError(t, b.Report(n.ID, list))
	}
}

func once(*unit) float64 { return 1 }

// Under loads that stay as they are, every move lowers the sum of squares by more than its cost and goes to a node that is
// known and able; no unit rests less than it has to, no placement comes twice, and the rounds come to an end.
func TestEveryMoveImproves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, _ := organisation(t)
		silent := rapid.IntRange(-1, len(b.nodes)-1).Draw(t, "silent")
		last, placements := make(map[UnitID]int), map[string]bool{placement(b): true}
		quiet := 0
		for round := 1; quiet < b.cfg.Settle+2; round++ {
			require.Less(t, round, 400, "no end")
			report(t, b, silent, once)
			scale := b.scale()
			before := objective(b, scale)
			moved := 0
			for _, d := range b.Round() {
				if d.Kind != Moves {
					continue
				}
				moved++
				to := b.byNode[d.To]
				require.True(t, to.known)
				require.Equal(t, free, obstacleTo(to, b.byUnit[d.Unit]), d)
				require.Greater(t, d.FromUsage, d.ToUsage)
				if at, ok := last[d.Unit]; ok {
					require.Greater(t, round-at, b.cfg.Settle)
				}
				last[d.Unit] = round
			}
			after := objective(b, scale)
			if moved > 0 {
				require.Less(t, after, before)
				require.NotContains(t, placements, placement(b))
				placements[placement(b)] = true
				quiet = 0
				continue
			}
			require.Equal(t, before, after)
			quiet++
		}
	})
}

// With equal nodes and one resource a unit of u moves from a to b only if x_a − x_b − u is above the gain, and none goes back
// where it came from.
func TestGainOfOneResource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Default()
		cfg.Migrator = rapid.SampledFrom([]Migrator{Threshold, Overload, Transfer}).Draw(t, "migrator")
		cfg.Threshold, cfg.Target = rapid.Float64Range(0, 5).Draw(t, "threshold"), rapid.Float64Range(0.2, 10).Draw(t, "target")
		b, err := New(cfg)
		require.NoError(t, err)
		for i := range rapid.IntRange(2, 5).Draw(t, "nodes") {
			require.NoError(t, b.Join(cpuNode(fmt.Sprintf("n%d", i), 100)))
		}
		for k := range rapid.IntRange(1, 20).Draw(t, "units") {
			u := Unit{ID: UnitID(fmt.Sprintf("u%02d", k)), Expected: Load{CPU: float64(rapid.IntRange(0, 40).Draw(t, "load"))}}
			require.NoError(t, b.Adopt(u, b.nodes[rapid.IntRange(0, len(b.nodes)-1).Draw(t, "on")].ID))
		}
		for range cfg.Readings {
			report(t, b, -1, once)
		}
		came := make(map[UnitID]NodeID)
		for range 12 {
			report(t, b, -1, once)
			for _, d := range b.Round() {
				if d.Kind != Moves {
					continue
				}
				require.Greater(t, d.FromUsage-d.ToUsage-d.Usage, cfg.Gain)
				require.NotEqual(t, came[d.Unit], d.To, "%s goes back", d.Unit)
				came[d.Unit] = d.From
				if cfg.Migrator == Overload {
					require.GreaterOrEqual(t, d.FromUsage, cfg.Limit)
					require.Less(t, d.ToUsage+d.Usage, cfg.Limit)
				}
			}
		}
	})
}

func cpuNode(id string, cores float64) Node {
	unbounded := math.Inf(1)
	return Node{ID: NodeID(id), Weight: 1, Capacity: Capacity{cores, unbounded, unbounded, unbounded}}
}

// A failed node's units are all elsewhere at once, on nodes that are able, or wait with a reason; replicas stay apart.
func TestFailedNodeIsEmptied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, _ := organisation(t)
		if len(b.nodes) < 2 {
			return
		}
		b.cfg.Policy = rapid.SampledFrom([]Policy{LeastOccupied, WeightedRandom}).Draw(t, "policy")
		b.cfg.Random = rand.New(rand.NewPCG(1, 2))
		report(t, b, -1, once)
		dead := b.nodes[0]
		count := len(dead.units)
		list, err := b.Fail(dead.ID)
		require.NoError(t, err)
		require.Len(t, list, count)
		for _, d := range list {
			require.NotEmpty(t, d.Why)
			u := b.byUnit[d.Unit]
			if d.Kind == Waits {
				require.Nil(t, u.on)
				for _, n := range b.nodes {
					require.NotEqual(t, free, obstacleTo(n, u))
				}
				continue
			}
			require.Equal(t, Replaces, d.Kind)
			require.Equal(t, d.To, u.on.ID)
			require.Equal(t, free, obstacleTo(u.on, u))
			require.NotEqual(t, dead.ID, d.To)
		}
	})
}

// Whatever the figures do, nothing moves to a node that is not known, and no unit is lost or doubled.
func TestUnitsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, units := organisation(t)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		b.cfg.Separate = Limits{MaxMessageRate: 30, MaxBandwidth: 60}
		for range 20 {
			silent := random.IntN(len(b.nodes) + 1)
			if silent < len(b.nodes) {
				require.NoError(t, b.Unreachable(b.nodes[silent].ID))
			}
			report(t, b, silent, func(*unit) float64 { return 2 * random.Float64() })
			for _, d := range b.Round() {
				if d.Kind == Moves {
					require.True(t, b.byNode[d.To].known)
				}
				require.NotEmpty(t, d.String())
			}
		}
		seen := make(map[UnitID]bool)
		for _, s := range b.Status() {
			for _, u := range s.Units {
				require.False(t, seen[u])
				seen[u] = true
			}
		}
		require.Len(t, seen, len(units)) // none has parts, so none was divided
	})
}
