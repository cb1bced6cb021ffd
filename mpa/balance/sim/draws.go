package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"fednode/mpa/balance"
)

// Drawn is how often policy weighted-random chose each node.
type Drawn struct {
	Chosen []int
	// Expected is how often in proportion to the weights.
	Expected []float64
	// ChiSquare is the sum of (chosen − expected)²/expected, over Degrees + 1 nodes whose weight is above 0.
	ChiSquare float64
	Degrees   int
}

// maxDraws bounds how many draws one call makes.
const maxDraws = 100_000_000

// Draw chooses among nodes of some weights, again and again.
func Draw(weights []float64, draws int, seed uint64) (*Drawn, error) {
	total := 0.0
	var problems []error
	for i, w := range weights {
		if !(w >= 0 && w <= 1e9) {
			problems = append(problems, fmt.Errorf("weight %g of node %d: a finite number from 0 is expected", w, i))
			continue
		}
		total += w
	}
	if draws < 1 || draws > maxDraws {
		problems = append(problems, fmt.Errorf("%d draws: from 1 to %d are expected", draws, maxDraws))
	}
	if len(weights) == 0 {
		problems = append(problems, errors.New("no weights: one for each node is expected, such as 1,2,7"))
	} else if total == 0 && len(problems) == 0 {
		problems = append(problems, errors.New("all weights are 0: no node would ever be chosen"))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	d := &Drawn{Chosen: make([]int, len(weights)), Degrees: -1}
	random := rand.New(rand.NewPCG(seed, 4))
	for range draws {
		r := balance.NewReservoir(1, random)
		for i, w := range weights {
			if err := r.Offer(i, w); err != nil {
				return nil, err
			}
		}
		d.Chosen[r.Items()[0]]++
	}
	for i, w := range weights {
		expected := float64(draws) * w / total
		d.Expected = append(d.Expected, expected)
		if w > 0 {
			off := float64(d.Chosen[i]) - expected
			d.ChiSquare += off * off / expected
			d.Degrees++
		}
	}
	return d, nil
}
