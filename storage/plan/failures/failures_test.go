package failures

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage/plan"
)

// agree is how near the process comes to a valid model, if it is simulated long enough.
const agree = 0.003

func twoLevels() plan.System {
	return plan.System{Levels: []plan.Level{{Rate: plan.PerDay(24), Cost: 10, Restart: 10}, {Rate: plan.PerDay(0.4), Cost: 30, Restart: 30}}}
}

// drawn is a system of 1 to 5 levels from a seed, as they occur: what survives more fails less often and costs more.
func drawn(seed uint64) plan.System {
	r := rand.New(rand.NewPCG(seed, 0))
	s := plan.System{PathLength: 1 + r.IntN(60), HopDelay: plan.Seconds(r.Float64())}
	rate, cost := 10+40*r.Float64(), 1+10*r.Float64()
	for range 1 + r.IntN(5) {
		s.Levels = append(s.Levels, plan.Level{Rate: plan.PerDay(rate), Cost: plan.Seconds(cost), Restart: plan.Seconds(cost * (0.5 + 2*r.Float64()))})
		rate *= 0.05 + 0.4*r.Float64()
		cost *= 1.5 + 2*r.Float64()
	}
	return s
}

// At the optimum of twenty systems drawn at random the process comes to what the plan says: within two standard errors, or
// 0.003 where those are less; or, where the plan says that the model does not hold, within twice the bias that it tells.
func TestProcessAgreesAtTheOptimum(t *testing.T) {
	valid := 0
	for seed := range uint64(20) {
		s := drawn(seed)
		p, err := plan.Optimise(s, plan.Fixed{})
		require.NoError(t, err)
		r, err := Run(t.Context(), s, p.Schedule, Options{Seed: seed, Duration: steps(s, p.Interval, 40_000)})
		require.NoError(t, err)
		within := agree
		if p.Valid() {
			valid++
		} else {
			within = 2 * math.Abs(p.Bias)
		}
		t.Logf("seed %d: %d levels: every %.1f s %.4v: %.4f planned, %.4f ± %.4f simulated, strain %.3f, bias %.4f", seed, len(s.Levels), float64(p.Interval),
			p.Probabilities, p.Utilization, r.Mean, r.StdErr(), p.Strain, p.Bias)
		require.InDelta(t, p.Utilization, r.Mean, max(2*r.StdErr(), within), "%+v", s)
	}
	require.GreaterOrEqual(t, valid, 17)
}

// steps is the duration of about so many intervals and failures.
func steps(s plan.System, interval plan.Seconds, n float64) plan.Seconds {
	total := 0.0
	for _, l := range s.Levels {
		total += float64(l.Rate)
	}
	return plan.Seconds(n / (total + 1/float64(interval)))
}

// Away from the optimum: where the model says that it is good, it is; where it is far off, it has said that it is not.
func TestProcessAgreesWhereTheModelIsValid(t *testing.T) {
	valid, invalid := 0, 0
	for seed := range uint64(24) {
		s := drawn(seed)
		r := rand.New(rand.NewPCG(seed, 1))
		best, err := plan.Optimise(s, plan.Fixed{})
		require.NoError(t, err)
		c := plan.Schedule{Interval: best.Interval * plan.Seconds(1+2*r.Float64()*r.Float64())}
		sum := 0.0
		for _, p := range best.Probabilities {
			w := max(p, 0.005) * math.Pow(10, r.Float64()-0.5)
			c.Probabilities = append(c.Probabilities, w)
			sum += w
		}
		for l := range c.Probabilities {
			c.Probabilities[l] /= sum
		}
		m, err := plan.NewModel(s)
		require.NoError(t, err)
		at := m.At(c)
		got, err := Run(t.Context(), s, c, Options{Seed: seed, Duration: steps(s, c.Interval, 8_000)})
		require.NoError(t, err)
		if !at.Valid() {
			invalid++
			continue
		}
		valid++
		require.InDelta(t, at.Utilization, got.Mean, max(2*got.StdErr(), agree), "seed %d: %+v: %+v: %+v: %+v", seed, s, c, at, got)
	}
	require.Greater(t, valid, 8, "%d were not", invalid)
	require.Greater(t, invalid, 5)
}

// Far from λ·T ≪ P the model comes to 0.537 and the process to 0.619.
func TestProcessWhereTheModelDoesNotHold(t *testing.T) {
	s := plan.System{Levels: []plan.Level{{Rate: plan.PerDay(24), Cost: 10, Restart: 10}, {Rate: plan.PerDay(4), Cost: 300, Restart: 300}}}
	c := plan.Schedule{Interval: 400, Probabilities: []float64{0.95, 0.05}}
	m, err := plan.NewModel(s)
	require.NoError(t, err)
	require.False(t, m.At(c).Valid())
	r, err := Run(t.Context(), s, c, Options{Seed: 1})
	require.NoError(t, err)
	require.InDelta(t, 0.619, r.Mean, 0.003)
	require.InDelta(t, 0.537, m.At(c).Utilization, 0.0005)
}

// One level, and no restarts or long ones, on a path or not: there the model is exact.
func TestProcessOfOneLevelIsExact(t *testing.T) {
	for _, s := range []plan.System{
		{Levels: []plan.Level{{Rate: plan.PerDay(24), Cost: 10}}},
		{Levels: []plan.Level{{Rate: plan.PerDay(48), Cost: 200, Restart: 600}}},
		{Levels: []plan.Level{{Rate: plan.PerDay(48), Cost: 20, Restart: 60}}, PathLength: 101, HopDelay: 1},
		{Levels: []plan.Level{{Rate: plan.PerDay(48), Restart: 60}, {Rate: plan.PerDay(10), Cost: 20, Restart: 30}}},
	} {
		p, err := plan.Optimise(s, plan.Fixed{})
		require.NoError(t, err)
		r, err := Run(t.Context(), s, p.Schedule, Options{Seed: 3, Duration: steps(s, p.Interval, 50_000)})
		require.NoError(t, err)
		require.InDelta(t, p.Utilization, r.Mean, 4*r.StdErr()+1e-4, "%+v %+v", s, p)
	}
}

// The same seed gives the same to the last bit, on any number of processors; another seed gives another.
func TestRunIsDecidedByItsSeed(t *testing.T) {
	s := drawn(2)
	p, err := plan.Optimise(s, plan.Fixed{})
	require.NoError(t, err)
	run := func(procs int, seed uint64) Result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		r, err := Run(t.Context(), s, p.Schedule, Options{Runs: 20, Seed: seed, Duration: 1e7})
		require.NoError(t, err)
		return r
	}
	require.Equal(t, run(1, 7), run(5, 7))
	require.NotEqual(t, run(1, 7), run(1, 8))
}

// Nothing that cannot be simulated is begun.
func TestRunRefuses(t *testing.T) {
	s := twoLevels()
	good := plan.Schedule{Interval: 270, Probabilities: []float64{0.9, 0.1}}
	for _, c := range []struct {
		c    plan.Schedule
		o    Options
		says string
	}{
		{plan.Schedule{Interval: 20, Probabilities: good.Probabilities}, Options{}, "interval: 20 s: expected no less than a checkpoint takes"},
		{plan.Schedule{Interval: 270, Probabilities: []float64{0.5, 0.4}}, Options{}, "a sum of 1"},
		{plan.Schedule{Interval: 270, Probabilities: []float64{1, 0}}, Options{}, "probabilities of level 2: 0"},
		{good, Options{Runs: 1}, "1 runs: expected 2 to 1000000"},
		{good, Options{Runs: -1}, "-1 runs"},
		{good, Options{Duration: -1}, "a duration of -1 s: expected more than 0"},
		{good, Options{Duration: plan.Seconds(math.NaN())}, "a duration of NaN s"},
		{good, Options{Duration: 1e30}, "a duration of 1e+30 s: expected at most"},
	} {
		_, err := Run(t.Context(), s, c.c, c.o)
		require.ErrorContains(t, err, c.says)
	}
	for i := range s.Levels {
		s.Levels[i].Rate = 0
	}
	_, err := Run(t.Context(), s, good, Options{})
	require.ErrorIs(t, err, plan.ErrNothingFails)
	s.Levels[0].Cost = -1
	_, err = Run(t.Context(), s, good, Options{})
	require.ErrorContains(t, err, "cost of level 1")
}

// A run ends with its context, also where nothing is ever completed.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, twoLevels(), plan.Schedule{Interval: 270, Probabilities: []float64{0.9, 0.1}}, Options{})
	require.ErrorIs(t, err, context.Canceled)
	s := twoLevels()
	s.Levels[1].Restart = 1e9 // goes on failing while it restarts
	_, err = Run(t.Context(), s, plan.Schedule{Interval: 270, Probabilities: []float64{0.9, 0.1}}, Options{Runs: 2, Duration: 1e8})
	require.NoError(t, err)
}
