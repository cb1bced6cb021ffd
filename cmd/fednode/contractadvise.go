package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fednode/mpa/sim"
)

// adviseFlags are the flags of contract advise, as they were given.
type adviseFlags struct {
	run                    mpaSimulateFlags // cost, task size
	question               sim.Question
	history, plots         string
	capacity, load, spread float64
}

func contractAdviseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "advise",
		Short: "Estimate what one more contract is worth, and where the next stops paying",
		Long: `Estimate, for 0, 1, 2 … contracts, how probable it is to be overloaded, by how much, and what that costs, once load
has moved along the contracts; and at which number the next contract costs more than it saves.

The loads come from --history, a CSV file of time,load (times in seconds or RFC 3339, in order), or from a distribution
with mean --load and standard deviation --spread (log-normal). They are in units of --capacity, the node's full speed.
Each reading counts as long as it lasted; across a gap of more than ten usual steps, for one step.

--moments moments are drawn, each with --nodes participants that have loads of this history, at random, and as many
contracts as you; the decisions are made by the code that a node runs. --together is the share of participants whose
loads are, at a moment, those of all others: partners that peak when you do help less.

An overloaded node is above the level at which it would rather give a task away. Costs are in what a unit of load costs
at the highest price, --upkeep of a contract too. The number that is named is the least one that is as good as any,
within a standard error; more --moments tell more.

A figure is the same each time for a --seed. --plots writes two charts: overload.svg and cost.svg.`,
		Example: `  fednode contract advise --history load.csv --upkeep 0.01
  fednode contract advise --load 0.6 --spread 0.4 --upkeep 0.01 --together 0.3`,
		Args: exactArgs(0),
	}
	d, s, f := sim.Default(), &adviseFlags{}, c.Flags()
	q := &s.question
	q.Run = d
	f.StringVar(&s.history, "history", "", "CSV file of time,load")
	f.Float64Var(&s.capacity, "capacity", 1, "load at full speed, in the unit of the loads")
	f.Float64Var(&s.load, "load", 0, "mean load, instead of a history")
	f.Float64Var(&s.spread, "spread", 0, "standard deviation of the load")
	f.Float64Var(&q.Upkeep, "upkeep", 0, "what a contract costs you")
	f.IntVar(&q.Most, "most", 20, "largest number of contracts to look at")
	f.IntVar(&q.Moments, "moments", 20, "moments that are drawn")
	f.IntVar(&q.Run.Nodes, "nodes", 100, "participants at each moment, an even number")
	f.Float64Var(&q.Together, "together", 0, "share of participants whose loads coincide")
	f.Float64Var(&q.Run.Full, "full", d.Full, "load at which one more unit costs the highest price")
	f.Float64Var(&q.Run.Range, "price-range", d.Range, "width of the price range, as a share of its highest; 0: fixed")
	f.StringVar(&s.run.taskSize, "task-size", "0.01", "load of a task; 0.005-0.05 for sizes in between")
	f.StringVar(&s.run.cost, "cost", "queue", "cost function: queue, power:EXPONENT or file:PATH (CSV: load,cost)")
	f.Float64Var(&q.Run.Moving, "migration-cost", d.Moving, "cost of moving a unit of load, as a share of the highest price")
	f.Uint64Var(&q.Run.Seed, "seed", d.Seed, "seed of everything that is drawn")
	f.StringVar(&s.plots, "plots", "", "directory for charts")
	c.RunE = func(c *cobra.Command, _ []string) error {
		q, err := s.ask(c.ErrOrStderr())
		if err != nil {
			return &codeError{code: exitWrong, err: err}
		}
		return s.advise(c, q)
	}
	return c
}

// ask makes the question; every problem is reported at once.
func (s *adviseFlags) ask(warnings io.Writer) (sim.Question, error) {
	q := s.question
	problems := []error{s.run.setTaskSize(&q.Run), s.run.setCost(&q.Run)}
	q.Run.Contracts = 0 // as many as are looked at
	var err error
	switch {
	case s.history != "" && (s.load != 0 || s.spread != 0):
		err = errors.New("either --history or --load with --spread is expected, not both")
	case !(s.capacity > 0 && s.capacity < 1e12):
		err = fmt.Errorf("--capacity %g: a number above 0 is expected", s.capacity)
	case s.history != "":
		q.Readings, err = readHistory(s.history, s.capacity, warnings)
	case s.load == 0:
		err = errors.New("--history FILE, or --load with --spread, is missing")
	default:
		q.Readings, err = logNormal(s.load/s.capacity, s.spread/s.capacity, q.Run.Seed)
	}
	if problems = append(problems, err); err == nil {
		problems = append(problems, q.Validate()...)
	}
	problems = slices.DeleteFunc(append(problems, q.Run.Validate()...), func(err error) bool { return err == nil })
	return q, errors.Join(unique(problems)...)
}

// advise makes the runs and shows what they come to.
func (s *adviseFlags) advise(c *cobra.Command, q sim.Question) error {
	o := &adviseObserver{out: c.ErrOrStderr(), live: canRedraw(c.ErrOrStderr()), runs: (q.Most + 1) * q.Moments, said: time.Now(), ctx: c.Context()}
	advice, err := sim.Advise(q, o)
	o.clear()
	switch {
	case err != nil:
		return err
	case c.Context().Err() != nil:
		return context.Cause(c.Context())
	}
	if err := writePlots(s.plots, advicePlots(advice, q.Upkeep)); err != nil {
		return err
	}
	return showAdvice(c, q, advice)
}

// adviseObserver shows how far the runs are.
type adviseObserver struct {
	sim.Silent
	out       io.Writer
	live      bool
	run, runs int
	said      time.Time
	ctx       context.Context
}

func (o *adviseObserver) Began(sim.Beginning) {
	o.run++
	pause := plainPause
	if o.live {
		pause = lookPause
	}
	if time.Since(o.said) < pause {
		return
	}
	o.said = time.Now()
	if o.live {
		fmt.Fprintf(o.out, "\rrun %d of %d\x1b[K", o.run, o.runs)
		return
	}
	fmt.Fprintf(o.out, "run %d of %d\n", o.run, o.runs)
}

func (o *adviseObserver) clear() {
	if o.live {
		fmt.Fprint(o.out, "\r\x1b[K")
	}
}

func (o *adviseObserver) Stop() bool { return o.ctx.Err() != nil }
