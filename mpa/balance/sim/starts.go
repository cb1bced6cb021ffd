package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"fednode/mpa/balance"
)

// Starts are many runs from random loads: each of a random number of nodes, each at a random multiple of the unit from 0 to
// 100 percent.
type Starts struct {
	Count              int
	MinNodes, MaxNodes int
	Unit               float64
	Rounds             int
	Seed               uint64
}

// maxStarts bounds how many starts one call makes.
const maxStarts = 100_000

// Validate reports everything that is wrong.
func (s *Starts) Validate() error {
	var problems []error
	if s.Count < 1 || s.Count > maxStarts {
		problems = append(problems, fmt.Errorf("%d starts: from 1 to %d are expected", s.Count, maxStarts))
	}
	if s.MinNodes < 2 || s.MaxNodes < s.MinNodes || s.MaxNodes > MaxNodes {
		problems = append(problems, fmt.Errorf("%d to %d nodes: from 2 to %d, the fewest first, is expected", s.MinNodes, s.MaxNodes, MaxNodes))
	}
	if !(s.Unit > 0 && s.Unit <= 100) {
		problems = append(problems, fmt.Errorf("unit of %g: above 0 and up to 100, a whole node, is expected", s.Unit))
	}
	if s.Rounds < 1 || s.Rounds > MaxRounds {
		problems = append(problems, fmt.Errorf("%d rounds: from 1 to %d are expected", s.Rounds, MaxRounds))
	}
	return errors.Join(problems...)
}

// Start is what one random start came to.
type Start struct {
	Nodes int
	// RestAfter is as in Result.
	RestAfter int
	Moves     int
	// Least is the least possible number of moves; Possible is false if no number of them brings the migrator to rest.
	Least         int
	Possible      bool
	Before, After Spread
}

// Run makes all starts under one configuration; they are the same for every migrator.
func (s *Starts) Run(cfg balance.Config, stop stopped) ([]Start, error) {
	if err := errors.Join(s.Validate(), cfg.Validate()); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(s.Seed, 3))
	var list []Start
	for k := 0; k < s.Count && (stop == nil || !stop()); k++ {
		loads := s.draw(random)
		usage := make([]float64, len(loads))
		for i, v := range loads {
			usage[i] = s.Unit * float64(v)
		}
		r, err := Run(Config{Usage: usage, Units: []float64{s.Unit}, Rounds: s.Rounds, Balance: cfg, Seed: s.Seed + uint64(k)}, stop)
		if err != nil {
			return nil, err
		}
		one := Start{Nodes: len(loads), RestAfter: r.RestAfter, Moves: r.Moves, Before: SpreadOf(usage), After: SpreadOf(r.Final())}
		one.Least, one.Possible = LeastMoves(loads, s.Unit, &cfg)
		list = append(list, one)
	}
	return list, nil
}

// draw draws the loads of one start, in units.
func (s *Starts) draw(random *rand.Rand) []int {
	loads := make([]int, s.MinNodes+random.IntN(s.MaxNodes-s.MinNodes+1))
	for i := range loads {
		loads[i] = random.IntN(int(100/s.Unit) + 1)
	}
	return loads
}
