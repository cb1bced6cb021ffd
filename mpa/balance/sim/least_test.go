package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/mpa/balance"
)

// The least number of moves is what a search of all placements finds.
func TestLeastMovesIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := settings(rapid.SampledFrom(balance.Migrators()).Draw(t, "migrator"))
		cfg.Threshold = rapid.Float64Range(0, 30).Draw(t, "threshold")
		cfg.Target = rapid.Float64Range(0.5, 30).Draw(t, "target")
		cfg.Limit = rapid.Float64Range(20, 95).Draw(t, "limit")
		loads := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 4).Draw(t, "loads")
		const unit = 15
		moves, ok := LeastMoves(loads, unit, &cfg)
		searched, found := search(loads, unit, &cfg)
		require.Equal(t, found, ok)
		if ok {
			require.Equal(t, searched, moves)
		}
	})
}

// search looks at every placement that some number of moves leads to.
func search(loads []int, unit float64, cfg *balance.Config) (int, bool) {
	seen := map[string]bool{fmt.Sprint(loads): true}
	front := [][]int{loads}
	for moves := 0; len(front) > 0; moves++ {
		var next [][]int
		for _, at := range front {
			sorted := slices.Sorted(slices.Values(at))
			if restful(sorted, unit, cfg) {
				return moves, true
			}
			for i := range at {
				for j := range at {
					to := slices.Clone(at)
					to[i]--
					to[j]++
					if key := fmt.Sprint(to); i != j && to[i] >= 0 && !seen[key] {
						seen[key] = true
						next = append(next, to)
					}
				}
			}
		}
		front = next
	}
	return 0, false
}
