package evaluate

import (
	"context"
	"fmt"
	"sync"

	"fednode/query/tuple"
	"fednode/testnet/sim"
	"fednode/testnet/sim/topology"
)

// Evaluation runs experiments in the simulator, several runs at a time.
type Evaluation struct {
	Experiments []*Experiment
	// Seeds is how many runs each cell has, under the seeds from 1 on.
	Seeds int
	// Workers is how many runs go on at once.
	Workers int
	// Done is called after each run, one call at a time, with how many have ended and how many there are; it may be nil.
	Done func(ended, all int)
}

// job is one run of a cell.
type job struct {
	cell *Cell
	seed uint64
	got  *outcome
}

// outcome is what one run showed.
type outcome struct {
	figures Figures
	points  []Point
}

// Run fills in the figures of all cells. It ends early, with an error, when ctx does.
func (e *Evaluation) Run(ctx context.Context) error {
	jobs := e.jobs()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan job) // closed below, when all have been taken
	var workers sync.WaitGroup
	var mu sync.Mutex
	ended := 0
	for range max(1, e.Workers) {
		workers.Go(func() {
			for j := range queue {
				err := j.cell.run(j.seed, j.got)
				mu.Lock()
				if err != nil {
					stop(fmt.Errorf("%s at %g, seed %d: %w", j.cell.Series, j.cell.X, j.seed, err))
				}
				if ended++; e.Done != nil {
					e.Done(ended, len(jobs))
				}
				mu.Unlock()
			}
		})
	}
	for i := 0; i < len(jobs) && ctx.Err() == nil; i++ {
		select {
		case queue <- jobs[i]:
		case <-ctx.Done():
		}
	}
	close(queue)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fold(jobs)
	return nil
}

func (e *Evaluation) jobs() []job {
	var list []job
	for _, x := range e.Experiments {
		for _, c := range x.cells() {
			for seed := range max(1, e.Seeds) {
				list = append(list, job{cell: c, seed: uint64(seed) + 1, got: &outcome{}})
			}
		}
	}
	return list
}

// fold sums the runs of each cell up, in the order of their seeds.
func fold(jobs []job) {
	for _, j := range jobs {
		j.cell.add(j.got.figures)
		if j.seed == 1 {
			j.cell.Timeline = j.got.points
		}
	}
	for i, j := range jobs {
		if i == 0 || jobs[i-1].cell != j.cell {
			j.cell.mean()
		}
	}
}

// Bounds of what counts as calm: what comes in the first two seconds may wait for connections, and what comes late must
// have reached the client before anything fails.
const (
	calmFrom = 2 * tuple.Second
	calmTo   = begins
)

// run runs a cell once.
func (c *Cell) run(seed uint64, got *outcome) error {
	t, err := topology.Build(c.spec)
	if err != nil {
		return err
	}
	healed := max(c.faults.Healed(), begins)
	m := newMeter(span{calmFrom, calmTo}, healed, c.away)
	if c.watch {
		m.line = &timeline{during: span{begins - 2*tuple.Second, healed + 4*tuple.Second}}
	}
	r, err := sim.ExecuteOn(t, sim.Case{Seed: seed, Spec: c.spec, Faults: c.faults}, sim.Options{Observer: m, GoOn: true})
	if err != nil {
		return err
	}
	got.figures = m.figures(&r)
	if c.watch {
		got.points = m.line.thin()
	}
	return nil
}
