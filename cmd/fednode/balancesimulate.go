package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/mpa/balance"
	"fednode/mpa/balance/sim"
)

// balanceFlags are the flags of balance simulate, as they were given.
type balanceFlags struct {
	migrators                                                            []string
	usage, unit, capacity, weights                                       []float64
	rounds, settle, readings, starts, draws                              int
	nodes, vary, html, plots                                             string
	unreachable                                                          []int
	fail                                                                 []string
	threshold, overload, uniform, target, history, gain, floor, resource float64
	noise                                                                float64
	period                                                               time.Duration
	seed                                                                 uint64
	reasons                                                              bool
}

func balanceSimulateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate how units of work move between nodes",
		Long: `Run the balancer on given or random loads, by the code that a node will run, and show what every node is at after each
round and when nothing moves any more. --migrator takes a list, or all, to compare them.

--usage gives the load of each node, in percent of its capacity; it consists of units of --unit percent of a usual
node. --starts makes many runs from random loads of --nodes nodes instead, and compares their moves with the least
possible. --weights draws nodes by weight instead, --draws times, as policy weighted-random does for new units.

--vary is walk:STEP (a random walk, STEP a share of the load a round) or bursts:PER_HOUR,FACTOR,SECONDS, of all units
that began at a node. A round stands for --period. A run is the same each time for a --seed.`,
		Example: `  fednode balance simulate --migrator threshold --usage 90,10
  fednode balance simulate --migrator all --usage 95,80,60,20,5 --reasons
  fednode balance simulate --migrator all --starts 50 --nodes 3-50
  fednode balance simulate --migrator all --usage 70,60,50,40,30 --vary walk:0.02 --rounds 2160 --html load.html
  fednode balance simulate --weights 1,2,7 --draws 10000`,
		Args: exactArgs(0),
	}
	d := balance.Default()
	var s balanceFlags
	f := c.Flags()
	f.StringSliceVar(&s.migrators, "migrator", []string{d.Migrator.String()}, "threshold, overload, uniform, transfer; a list, or all")
	f.Float64SliceVar(&s.usage, "usage", nil, "usage of each node at the start, in percent of its capacity")
	f.Float64SliceVar(&s.unit, "unit", []float64{5}, "load of a unit, in percent of a usual node; one for all nodes, or one each")
	f.Float64SliceVar(&s.capacity, "capacity", nil, "capacity of each node, in those of a usual one")
	f.IntVar(&s.rounds, "rounds", 10, "rounds of a run")
	f.IntSliceVar(&s.unreachable, "unreachable", nil, "nodes that cannot be reached: never targets")
	f.StringSliceVar(&s.fail, "fail", nil, "nodes that die, as NODE@ROUND")
	f.Float64Var(&s.threshold, "threshold", d.Threshold, "threshold: points above the average")
	f.Float64Var(&s.overload, "overload", d.Limit, "overload, transfer: percent from which a node is overloaded")
	f.Float64Var(&s.uniform, "uniform", d.Difference, "uniform: percent by which message rates may differ")
	f.Float64Var(&s.floor, "floor", d.Floor, "uniform: message rate that the lowest counts as at least")
	f.Float64Var(&s.target, "target", d.Target, "transfer: standard deviation that is allowed, in points")
	f.Float64Var(&s.history, "history", d.History, "threshold, transfer: how much the past counts in smoothed usage")
	f.Float64Var(&s.resource, "resource-weight", 1, "threshold, transfer: what usage is times")
	f.Float64Var(&s.gain, "gain", d.Gain, "points that a move has to gain")
	f.IntVar(&s.settle, "settle", d.Settle, "rounds that a unit rests after a move")
	f.IntVar(&s.readings, "readings", d.Readings, "overload: readings in a row that count")
	f.IntVar(&s.starts, "starts", 0, "runs from random loads, for each migrator")
	f.StringVar(&s.nodes, "nodes", "3-50", "nodes of a random start: a number, or a range")
	f.Float64SliceVar(&s.weights, "weights", nil, "weights of nodes to draw by")
	f.IntVar(&s.draws, "draws", 10_000, "draws by weight")
	f.StringVar(&s.vary, "vary", "", "how loads change")
	f.Float64Var(&s.noise, "noise", 0, "noise in the load of each unit and round, as a share of it")
	f.DurationVar(&s.period, "period", 10*time.Second, "time that a round stands for")
	f.Uint64Var(&s.seed, "seed", 1, "seed of what is random")
	f.BoolVar(&s.reasons, "reasons", false, "print every decision with its reason")
	f.StringVar(&s.html, "html", "", "file for a page with plots")
	f.StringVar(&s.plots, "plots", "", "directory for the plots as files")
	c.RunE = func(c *cobra.Command, _ []string) error { return s.simulate(c) }
	return c
}

// simulate does what the flags ask for: a run, random starts, or draws.
func (s *balanceFlags) simulate(c *cobra.Command) error {
	settings, problems := s.settings()
	modes := 0
	for _, name := range []string{"usage", "starts", "weights"} {
		if c.Flags().Changed(name) {
			modes++
		}
	}
	if modes != 1 {
		problems = append(problems, errors.New("one of --usage 90,10, --starts 50 and --weights 1,2,7 is expected"))
	}
	switch {
	case modes == 1 && c.Flags().Changed("weights"):
		return s.drawing(c, problems)
	case modes == 1 && c.Flags().Changed("starts"):
		return s.starting(c, settings, problems)
	}
	return s.running(c, settings, problems, modes == 1)
}

// settings are those of each migrator that is asked for.
func (s *balanceFlags) settings() (list []balance.Config, problems []error) {
	base := balance.Default()
	base.Threshold, base.Limit, base.Difference, base.Target, base.History = s.threshold, s.overload, s.uniform, s.target, s.history
	base.Gain, base.Floor, base.Settle, base.Readings = s.gain, s.floor, s.settle, s.readings
	w := s.resource
	base.Weights = balance.Weights{w, w, w, w}
	var migrators []balance.Migrator
	for _, name := range s.migrators {
		if name == "all" {
			migrators = append(migrators, balance.Migrators()...)
			continue
		}
		m, err := balance.ParseMigrator(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("--migrator: %w, or all", err))
			continue
		}
		migrators = append(migrators, m)
	}
	slices.Sort(migrators)
	for _, base.Migrator = range slices.Compact(migrators) {
		list = append(list, base)
	}
	if len(list) == 0 && len(problems) == 0 {
		problems = append(problems, errors.New("--migrator: at least one is expected"))
	}
	if len(list) == 0 {
		list = append(list, base) // so that what else is wrong is found too
	}
	return list, problems
}

// balanceDone is a run of one migrator.
type balanceDone struct {
	cfg sim.Config
	*sim.Result
}

// running makes a run for each migrator.
func (s *balanceFlags) running(c *cobra.Command, settings []balance.Config, problems []error, wanted bool) error {
	cfg := sim.Config{Usage: s.usage, Capacity: s.capacity, Units: s.unit, Rounds: s.rounds, Unreachable: s.unreachable, Seed: s.seed}
	if s.period <= 0 || s.period > 24*time.Hour {
		problems = append(problems, fmt.Errorf("--period %s: above 0 and up to a day is expected", s.period))
	}
	for _, text := range s.fail {
		node, round, _ := strings.Cut(text, "@")
		var f sim.Failure
		var errs [2]error
		f.Node, errs[0] = strconv.Atoi(node)
		f.Round, errs[1] = strconv.Atoi(round)
		if errors.Join(errs[:]...) != nil {
			problems = append(problems, fmt.Errorf("--fail %s: a node and a round such as 1@3 is expected", text))
			continue
		}
		cfg.Fail = append(cfg.Fail, f)
	}
	problems = append(problems, s.setVary(&cfg.Vary))
	for _, cfg.Balance = range settings {
		err := cfg.Validate()
		if !wanted {
			err = cfg.Balance.Validate() // there is nothing to run, but settings can be wrong
		}
		problems = append(problems, separately(err)...)
	}
	if err := wrongAll(problems); err != nil {
		return err
	}
	var done []balanceDone
	for _, cfg.Balance = range settings {
		r, err := sim.Run(cfg, stopOf(c))
		if err != nil {
			return err
		}
		if c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		done = append(done, balanceDone{cfg, r})
	}
	if err := s.draw(c, runPlots(done, s.period), func() balancePage { return runPage(done, s.period) }); err != nil {
		return err
	}
	return s.showRuns(c, done)
}

// setVary reads --vary and --noise.
func (s *balanceFlags) setVary(v *sim.Variation) error {
	v.Noise = s.noise
	if s.vary == "" {
		return nil
	}
	kind, rest, _ := strings.Cut(s.vary, ":")
	var of []float64
	for _, text := range strings.Split(rest, ",") {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			of = append(of, f)
		}
	}
	count := strings.Count(rest, ",") + 1
	switch {
	case kind == "walk" && len(of) == 1 && count == 1:
		v.Walk = of[0]
		return nil
	case kind == "bursts" && len(of) == 3 && count == 3 && of[0] > 0:
		v.Burst, v.Factor, v.Length = of[0]*s.period.Hours(), of[1], max(1, of[2]/s.period.Seconds())
		return nil
	}
	return fmt.Errorf("--vary %s: walk:STEP or bursts:PER_HOUR,FACTOR,SECONDS is expected, such as walk:0.02", s.vary)
}

// separately takes joined problems apart.
func separately(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, one := range many.Unwrap() {
			list = append(list, separately(one)...)
		}
		return list
	}
	return []error{err}
}

// wrongAll makes all problems one error, each of them once; nil if there are none.
func wrongAll(problems []error) error {
	var all []error
	for _, p := range problems {
		all = append(all, separately(p)...)
	}
	if len(all) == 0 {
		return nil
	}
	return &codeError{code: exitWrong, err: errors.Join(unique(all)...)}
}

// stopOf ends a simulation when its command is interrupted.
func stopOf(c *cobra.Command) func() bool {
	return func() bool { return c.Context().Err() != nil }
}
