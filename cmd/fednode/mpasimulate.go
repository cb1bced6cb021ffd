package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/mpa/sim"
)

// mpaSimulateFlags are the flags of mpa simulate, as they were given.
type mpaSimulateFlags struct {
	nodes, seeds                            int
	contracts                               []int
	load, priceRange                        []float64
	graph                                   []string
	loads, taskSize, cost, vary, delay      string
	skew, full, moving, margin, loss, noise float64
	seed                                    uint64
	duration, migration                     time.Duration
	trace, html, plots                      string
	compare                                 bool
}

// maxMPARuns bounds how many runs one command makes.
const maxMPARuns = 10_000

func mpaSimulateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate how load moves among many participants",
		Long: `Run many participants in this process, each deciding by the code that a node runs, over simulated messages, and
show how much load is left above the level at which its holder would rather give it away (excess), how much moved, and
whether the end is acceptable: nobody is overloaded, or nobody has room.

Loads and capacities are in units of a node's full speed. A node is full where one more unit of load costs the highest
price: --full. Total load is --load times that, over all nodes. A run is the same each time for a --seed.

--contracts, --load, --price-range and --graph take lists: each combination is a run, or --seeds runs. A graph is
random, regular (no more than that many), ring, tree, star, scale-free or file:PATH (CSV: a,b or a,b,min,max with prices
as shares of the highest). --loads is exponential, uniform, skewed or file:PATH (one figure a line and node, in
proportion). --cost is queue (M/M/1), power:EXPONENT or file:PATH (CSV: load,cost). --vary is walk:STEP,
bursts:PER_HOUR,FACTOR,SECONDS or file:PATH (CSV: seconds,node,factor).

--compare shows what two other arrangements come to on the same loads. alone: nobody helps anybody. reserved: each node
guarantees its partners a share of what it can carry, in equal parts, and nothing is passed on. That is looked at
kindly: load can be divided at will, the share is the best one for just these loads, and a node uses what it has set
aside until its partners claim it.`,
		Example: `  fednode mpa simulate --nodes 995 --contracts 10 --load 0.8
  fednode mpa simulate --contracts 1,3,10,20 --price-range 0,0.05,0.1,0.2 --html contracts.html
  fednode mpa simulate --compare --load 0.5,0.8,0.95
  fednode mpa simulate --vary walk:0.02 --duration 1h --trace moves.jsonl`,
		Args: exactArgs(0),
	}
	d := sim.Default()
	var s mpaSimulateFlags
	f := c.Flags()
	f.IntVar(&s.nodes, "nodes", d.Nodes, "participants")
	f.IntSliceVar(&s.contracts, "contracts", []int{d.Contracts}, "contracts that each has at least; children in a tree")
	f.Float64SliceVar(&s.load, "load", []float64{d.Load}, "total load, as a share of capacity")
	f.Float64SliceVar(&s.priceRange, "price-range", []float64{d.Range}, "width of the price range, as a share of its highest; 0: fixed")
	f.StringSliceVar(&s.graph, "graph", []string{d.Graph.String()}, "who has a contract with whom")
	f.StringVar(&s.loads, "loads", d.Loads.String(), "how load is spread")
	f.Float64Var(&s.skew, "skew", d.Skew, "how unevenly, for skewed loads: rank to the power of minus this")
	f.StringVar(&s.taskSize, "task-size", "0.01", "load of a task; 0.005-0.05 for sizes in between")
	f.StringVar(&s.cost, "cost", "queue", "cost function of every node")
	f.Float64Var(&s.full, "full", d.Full, "load at which one more unit costs the highest price")
	f.Float64Var(&s.moving, "migration-cost", d.Moving, "cost of moving a unit of load, as a share of the highest price")
	f.Float64Var(&s.margin, "margin", d.Margin, "by how much more a return has to gain, as a share of its highest")
	f.StringVar(&s.vary, "vary", "", "how loads change")
	f.Float64Var(&s.noise, "noise", 0, "noise in each reading of a node's load, in tasks")
	f.Float64Var(&s.loss, "loss", d.Loss, "share of messages that are lost")
	f.StringVar(&s.delay, "delay", "10ms-110ms", "how long a message takes")
	f.DurationVar(&s.migration, "migration", 0, "how long a task takes to move")
	f.DurationVar(&s.duration, "duration", time.Duration(d.Duration)*time.Microsecond, "how long a run takes at most; it ends at rest")
	f.Uint64Var(&s.seed, "seed", d.Seed, "seed of the first run")
	f.IntVar(&s.seeds, "seeds", 1, "runs for each combination, one a seed")
	f.StringVar(&s.trace, "trace", "", "file for nodes, contracts and moves of one run, as JSON lines; - for standard output")
	f.StringVar(&s.html, "html", "", "file for a page with plots")
	f.StringVar(&s.plots, "plots", "", "directory for the plots of several runs, as SVG")
	f.BoolVar(&s.compare, "compare", false, "compare with each alone, and with reserved capacity")
	c.RunE = func(c *cobra.Command, _ []string) error {
		runs, err := s.runs()
		if err != nil {
			return &codeError{code: exitWrong, err: err}
		}
		return s.simulate(c, runs)
	}
	return c
}

// mpaRun is one run, with what tells it from the others.
type mpaRun struct {
	cfg   sim.Config
	graph string
}

// runs lists the runs that the flags ask for; every problem is reported at once.
func (s *mpaSimulateFlags) runs() ([]mpaRun, error) {
	base, problems := s.base()
	var list []mpaRun
	wrongIf := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	wrongIf(s.seeds < 1, "--seeds %d: 1 at least is expected", s.seeds)
	count := len(s.graph) * len(s.contracts) * len(s.load) * len(s.priceRange) * max(s.seeds, 1)
	wrongIf(count > maxMPARuns, "%d runs: at most %d are possible at once", count, maxMPARuns)
	wrongIf(count == 0, "a list of --contracts, --load, --price-range or --graph is empty")
	wrongIf(s.compare && base.Vary.Kind != sim.Constant || s.compare && s.noise > 0, "--compare is of loads that do not vary: leave --vary and --noise out")
	wrongIf(s.trace != "" && count > 1, "--trace is of one run, and this is %d", count)
	if count > maxMPARuns {
		return nil, errors.Join(problems...)
	}
	for _, graph := range s.graph {
		cfg := base
		if err := setGraph(&cfg, graph); err != nil {
			problems = append(problems, err)
			continue
		}
		for _, cfg.Contracts = range s.contracts {
			for _, cfg.Load = range s.load {
				for _, cfg.Range = range s.priceRange {
					problems = append(problems, cfg.Validate()...)
					for k := range s.seeds {
						one := cfg
						one.Seed += uint64(k)
						list = append(list, mpaRun{one, graph})
					}
				}
			}
		}
	}
	return list, errors.Join(unique(problems)...)
}

// unique drops problems that were found before.
func unique(problems []error) (list []error) {
	seen := make(map[string]bool)
	for _, p := range problems {
		if !seen[p.Error()] {
			seen[p.Error()] = true
			list = append(list, p)
		}
	}
	return list
}

// base is the run without what lists vary.
func (s *mpaSimulateFlags) base() (cfg sim.Config, problems []error) {
	cfg = sim.Default()
	cfg.Nodes, cfg.Skew, cfg.Full, cfg.Moving, cfg.Margin, cfg.Loss, cfg.Seed = s.nodes, s.skew, s.full, s.moving, s.margin, s.loss, s.seed
	cfg.Duration, cfg.Migration = s.duration.Microseconds(), s.migration.Microseconds()
	cfg.Vary.Noise = s.noise
	for _, set := range []func(*sim.Config) error{s.setLoads, s.setTaskSize, s.setCost, s.setVary, s.setDelay} {
		if err := set(&cfg); err != nil {
			problems = append(problems, err)
		}
	}
	return cfg, problems
}

func (s *mpaSimulateFlags) setTaskSize(cfg *sim.Config) error {
	low, high, ranged := strings.Cut(s.taskSize, "-")
	if !ranged {
		high = low
	}
	var errs [2]error
	cfg.TaskMin, errs[0] = strconv.ParseFloat(low, 64)
	cfg.TaskMax, errs[1] = strconv.ParseFloat(high, 64)
	if errs[0] != nil || errs[1] != nil {
		return fmt.Errorf("--task-size %s: a load such as 0.01, or two such as 0.005-0.05, is expected", s.taskSize)
	}
	return nil
}

func (s *mpaSimulateFlags) setDelay(cfg *sim.Config) error {
	low, high, ranged := strings.Cut(s.delay, "-")
	if !ranged {
		high = low
	}
	shortest, err1 := time.ParseDuration(low)
	longest, err2 := time.ParseDuration(high)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("--delay %s: a duration such as 20ms, or two such as 10ms-110ms, is expected", s.delay)
	}
	cfg.MinDelay, cfg.MaxDelay = shortest.Microseconds(), longest.Microseconds()
	return nil
}

// simulate makes the runs one after the other, and shows what they came to.
func (s *mpaSimulateFlags) simulate(c *cobra.Command, runs []mpaRun) error {
	show := &mpaShow{c: c, out: c.ErrOrStderr(), live: canRedraw(c.ErrOrStderr()), runs: len(runs), said: time.Now(), began: time.Now()}
	var done []mpaDone
	for i, r := range runs {
		o := &mpaObserver{show: show, at: i, duration: r.cfg.Duration, ctx: c.Context()}
		var out io.Closer
		if s.trace != "" {
			w, err := traceTo(c, s.trace)
			if err != nil {
				return err
			}
			o.trace, out = newMPATrace(w), w
		}
		began := time.Now()
		one, err := s.run(r, o)
		one.took = time.Since(began)
		show.clear()
		if o.trace != nil {
			err = errors.Join(err, o.trace.flush(), out.Close())
		}
		if err != nil {
			return err
		}
		if c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		done = append(done, one)
	}
	if s.html != "" {
		if err := writeMPAPage(c, s.html, done); err != nil {
			return err
		}
	}
	if err := writePlots(s.plots, mpaPlots(done)); err != nil {
		return err
	}
	if s.trace == "-" {
		return nil
	}
	return showMPA(c, done)
}

// run makes one run, compared with other arrangements if that is wanted.
func (s *mpaSimulateFlags) run(r mpaRun, o sim.Observer) (mpaDone, error) {
	if s.compare {
		comparison, err := sim.Compare(r.cfg, o)
		if err != nil {
			return mpaDone{}, err
		}
		return mpaDone{mpaRun: r, Result: comparison.Run, comparison: comparison}, nil
	}
	result, err := sim.Run(r.cfg, o)
	return mpaDone{mpaRun: r, Result: result}, err
}

// traceTo opens the file of a trace.
func traceTo(c *cobra.Command, path string) (io.WriteCloser, error) {
	if path == "-" {
		return kept{c.OutOrStdout()}, nil
	}
	return os.Create(path)
}

// kept is a writer that is not ours to close.
type kept struct{ io.Writer }

func (kept) Close() error { return nil }
