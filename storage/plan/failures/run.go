package failures

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"fednode/storage/plan"
)

// Options say how much is simulated.
type Options struct {
	// Runs is how many processes, 2 to MaxRuns; 0 means 100.
	Runs int
	// Seed and the number of a run decide everything that happens in it.
	Seed uint64
	// Duration is how long each process is measured. 0 means until a thousand failures of the rarest level, but at most what
	// maxSteps intervals and failures take.
	Duration plan.Seconds
}

// Bounds of the options.
const (
	MaxRuns     = 1_000_000
	defaultRuns = 100
	// rarest is how many failures of the rarest level a process should see.
	rarest = 1000
	// maxSteps bounds the work of a run whose duration was not given: some hundredths of a second.
	maxSteps = 2_000_000
	// MaxSteps bounds that of one whose duration was given.
	MaxSteps = 1_000_000_000
)

// Result is what came out.
type Result struct {
	// Mean is the utilization over the runs, StdDev how far a run lies from it.
	Mean, StdDev float64
	Runs         int
	Duration     plan.Seconds
}

// StdErr is how far the mean may lie from that of endlessly many runs.
func (r Result) StdErr() float64 { return r.StdDev / math.Sqrt(float64(r.Runs)) }

// complete fills in what is left open and checks the rest.
func (o Options) complete(s plan.System, c plan.Schedule) (Options, error) {
	if o.Runs == 0 {
		o.Runs = defaultRuns
	}
	if o.Runs < 2 || o.Runs > MaxRuns {
		return o, fmt.Errorf("failures: %d runs: expected 2 to %d", o.Runs, MaxRuns)
	}
	if d := float64(o.Duration); math.IsNaN(d) || math.IsInf(d, 0) || d < 0 {
		return o, fmt.Errorf("failures: a duration of %g s: expected more than 0", d)
	}
	total, least := 0.0, math.Inf(1)
	for _, l := range s.Levels {
		total += float64(l.Rate)
		if l.Rate > 0 {
			least = min(least, float64(l.Rate))
		}
	}
	steps := total + 1/float64(c.Interval) // a second
	switch {
	case o.Duration == 0:
		o.Duration = plan.Seconds(min(rarest/least, maxSteps/steps))
	case float64(o.Duration)*steps > MaxSteps:
		return o, fmt.Errorf("failures: a duration of %g s: expected at most %.3g s, which are %d intervals and failures a run", float64(o.Duration), MaxSteps/steps, MaxSteps)
	}
	return o, nil
}

// Run simulates a schedule. Errors: the mistakes of the system, of the schedule and of the options, plan.ErrNothingFails,
// and that of ctx when it ends.
func Run(ctx context.Context, s plan.System, c plan.Schedule, o Options) (Result, error) {
	if _, err := plan.NewModel(s); err != nil {
		return Result{}, err
	}
	if err := c.Check(&s); err != nil {
		return Result{}, err
	}
	o, err := o.complete(s, c)
	if err != nil {
		return Result{}, err
	}
	warm := warmUp(s, c, float64(o.Duration))
	shares := make([]float64, o.Runs)
	more := func() bool { return ctx.Err() == nil }
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), o.Runs) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(o.Runs) && more(); i = next.Add(1) - 1 {
				p := newProcess(s, c, rand.New(rand.NewPCG(o.Seed, uint64(i))))
				p.warm, p.duration, p.more = warm, warm+float64(o.Duration), more
				shares[i] = p.run()
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	mean, dev := spread(shares)
	return Result{Mean: mean, StdDev: dev, Runs: o.Runs, Duration: o.Duration}, nil
}

// warmUp returns after which time a process has forgotten its beginning: ten checkpoints that survive every failure, but
// not longer than it is measured.
func warmUp(s plan.System, c plan.Schedule, duration float64) float64 {
	above := 0.0
	for l := len(s.Levels) - 1; l >= 0; l-- {
		if above += c.Probabilities[l]; s.Levels[l].Rate > 0 {
			break
		}
	}
	return min(duration, 10*float64(c.Interval)/max(above, 1e-12))
}

// spread returns the mean and the standard deviation of a sample, in the order of its values.
func spread(values []float64) (mean, dev float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		dev += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(dev)
}
