package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"fednode/contracts"
	"fednode/mpa"
)

// Reading is a load that a participant had, in units of its full speed, and for how long.
type Reading struct{ Load, Weight float64 }

// Question asks what contracts are worth to a participant that has had these loads.
type Question struct {
	// Run fixes everything but who has a contract with whom and the loads: the number of participants, cost, prices, tasks.
	Run      Config
	Readings []Reading
	// Most is the largest number of contracts that is looked at.
	Most int
	// Moments is how many moments are drawn.
	Moments int
	// Together is the share of participants that have, at a moment, the load that all of these have: 0 if nobody's peaks
	// coincide.
	Together float64
	// Upkeep is what a contract costs each party, in what a unit of load costs at the highest price.
	Upkeep float64
}

// Advice is what contracts are worth.
type Advice struct {
	// Counts are for 0, 1, 2 … contracts.
	Counts []Count
	// Best is the least number of contracts at which cost and upkeep together are not above the lowest ones by more than the
	// standard error of that difference: whether the next one pays cannot be told from these loads.
	Best int
	// Ranges are the widths of the price range, as shares of the highest price, that 1, 2, 3 relays in a row need.
	Ranges []float64
}

// Count is what a number of contracts comes to. Figures are means over participants and moments.
type Count struct {
	Contracts int
	// Probability of being overloaded, and the load above the level then and at all other times (0) together.
	Probability, Overload float64
	// Cost of a participant in what a unit of load costs at the highest price, payments left out: they cancel out.
	Cost float64
	// Worth of this contract over one fewer, upkeep taken off, in the same unit; Error is its standard error.
	Worth, Error float64

	costs []float64 // with upkeep, of a participant at each moment
}

// Limits of a question.
const (
	maxAdvised  = 100
	maxMoments  = 1_000
	adviseRelay = 3
)

// Validate reports everything that is wrong with a question.
func (q *Question) Validate() (problems []error) {
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	wrong(q.Run.Nodes < 4 || q.Run.Nodes > 2000 || q.Run.Nodes%2 != 0, "%d participants: an even number from 4 to 2000 is expected", q.Run.Nodes)
	wrong(q.Most < 0 || q.Most > maxAdvised || q.Most >= q.Run.Nodes, "up to %d contracts: 0 to %d, fewer than the %d participants, is expected", q.Most, maxAdvised, q.Run.Nodes)
	wrong(q.Moments < 1 || q.Moments > maxMoments, "%d moments: 1 to %d are expected", q.Moments, maxMoments)
	wrong(!(q.Together >= 0 && q.Together <= 1), "a share of %g with peaks together: 0 to 1 is expected", q.Together)
	wrong(!(q.Upkeep >= 0) || math.IsInf(q.Upkeep, 0), "upkeep %g: a finite number from 0 is expected", q.Upkeep)
	wrong(len(q.Readings) == 0, "there are no loads")
	sum := 0.0
	for i, r := range q.Readings {
		wrong(!(r.Load >= 0 && r.Load <= maxReading), "load %d is %g: 0 to %d times the full speed is expected", i+1, r.Load, maxReading)
		wrong(!(r.Weight >= 0) || math.IsInf(r.Weight, 0), "load %d holds for %g: a finite time from 0 is expected", i+1, r.Weight)
		sum += r.Load * r.Weight
	}
	wrong(len(q.Readings) > 0 && sum == 0, "all loads are 0: nothing would ever move")
	return problems
}

// maxReading bounds loads, in units of full speed.
const maxReading = 10

// Advise simulates the loads of many participants that are like this one at moments drawn from its readings, each with so
// many contracts with others, and tells what is left above their levels when load has moved. It depends on the question
// alone. o is told of each run; whoever stops one ends it all.
func Advise(q Question, o Observer) (*Advice, error) {
	q.Run.Contracts = 0 // as many as are looked at
	if problems := append(q.Validate(), q.Run.Validate()...); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	moments := q.moments()
	out := &Advice{}
	for n := range q.Most + 1 {
		count := Count{Contracts: n}
		for k, loads := range moments {
			r, price, err := q.run(n, k, loads, o)
			if err != nil {
				return nil, err
			}
			share := 1 / float64(len(moments)*q.Run.Nodes)
			count.Probability += share * float64(r.Final.Overloaded)
			count.Overload += share * r.Final.Excess * r.TotalLoad
			cost := r.Social.Final * contracts.Micro / price / float64(q.Run.Nodes)
			count.Cost += cost / float64(len(moments))
			count.costs = append(count.costs, cost+float64(n)*q.Upkeep)
			if o.Stop() {
				return out, nil
			}
		}
		if n > 0 {
			count.Worth, count.Error = saved(&out.Counts[n-1], &count)
		}
		out.Counts = append(out.Counts, count)
	}
	out.Best = best(out.Counts)
	return out, q.ranges(out)
}

// best finds the least number of contracts that is as good as any, as far as one can tell.
func best(counts []Count) int {
	lowest := 0
	for i := range counts {
		if by, _ := saved(&counts[lowest], &counts[i]); by > 1e-9 {
			lowest = i
		}
	}
	for i := range lowest {
		if by, wrong := saved(&counts[i], &counts[lowest]); by <= wrong {
			return i
		}
	}
	return lowest
}

// saved returns by how much less one number of contracts costs than another at the same moments, and its standard error; 0
// for a single moment.
func saved(than, this *Count) (mean, wrong float64) {
	n := float64(len(this.costs))
	for k := range this.costs {
		mean += (than.costs[k] - this.costs[k]) / n
	}
	if n < 2 {
		return mean, 0
	}
	for k := range this.costs {
		off := than.costs[k] - this.costs[k] - mean
		wrong += off * off
	}
	return mean, math.Sqrt(wrong / (n - 1) / n)
}

// ranges tells how wide a price range lets load pass over full participants.
func (q *Question) ranges(out *Advice) error {
	cost, err := q.Run.Cost.function()
	if err != nil {
		return err
	}
	price := cost.Slope(q.Run.Full)
	for hops := 1; hops <= adviseRelay; hops++ {
		out.Ranges = append(out.Ranges, mpa.RangeFor(cost, hops, q.Run.TaskMax, price, q.Run.Moving*price))
	}
	return nil
}

// run simulates a moment with so many contracts of each participant.
func (q *Question) run(contracts, moment int, loads []float64, o Observer) (r *Result, price float64, err error) {
	cfg := q.Run
	cost, err := cfg.Cost.function()
	if err != nil {
		return nil, 0, err
	}
	price = cost.Slope(cfg.Full)
	total := 0.0
	for _, l := range loads {
		total += l
	}
	if total == 0 {
		return &Result{Nodes: cfg.Nodes}, price, nil
	}
	cfg.Seed += uint64(moment)
	cfg.Loads, cfg.Shares, cfg.Load = Given, loads, total/(cfg.Full*float64(cfg.Nodes))
	cfg.Graph, cfg.Contracts, cfg.Edges = File, 0, regular(cfg.Nodes, contracts, rand.New(rand.NewPCG(cfg.Seed, 7)))
	r, err = Run(cfg, o)
	return r, price, err
}

// moments draws the loads of all participants at each moment; they are the same for each number of contracts.
func (q *Question) moments() [][]float64 {
	random := rand.New(rand.NewPCG(q.Run.Seed, 8))
	until := make([]float64, len(q.Readings))
	sum := 0.0
	for i, r := range q.Readings {
		sum += r.Weight
		until[i] = sum
	}
	draw := func() float64 {
		at := random.Float64() * sum
		i := sort.Search(len(until), func(i int) bool { return until[i] > at })
		return q.Readings[min(i, len(until)-1)].Load
	}
	list := make([][]float64, q.Moments)
	for k := range list {
		list[k] = make([]float64, q.Run.Nodes)
		all := draw()
		for i := range list[k] {
			own, together := draw(), random.Float64() < q.Together
			if list[k][i] = own; together {
				list[k][i] = all
			}
		}
	}
	return list
}

// regular returns contracts of which each of n nodes, an even number, has exactly so many: on a ring in random order, each
// has one with those that stand at distances chosen at random.
func regular(n, contracts int, random *rand.Rand) (list []Edge) {
	place := random.Perm(n)
	if contracts%2 == 1 {
		for i := range n / 2 {
			list = append(list, Edge{A: place[i], B: place[i+n/2]})
		}
	}
	for _, d := range random.Perm(n/2 - 1)[:contracts/2] {
		for i := range n {
			list = append(list, Edge{A: place[i], B: place[(i+d+1)%n]})
		}
	}
	return list
}
