package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"fednode/testnet/sim"
)

// simulateFlags are the flags of testnet simulate.
type simulateFlags struct {
	seed, runs, workers, tries int
	spec, trace                string
	keepGoing                  bool
}

// Bounds of the flags, and of a spec file.
const (
	maxSimulatedRuns = 100_000_000
	maxSimulateTries = 100_000
	maxCaseBytes     = 1 << 20
)

// coveredRuns is how many runs of drawn federations must have shown everything that can happen.
const coveredRuns = 1000

func testnetSimulateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Break simulated federations by seed, and check every promise",
		Long: `Run whole federations of replicas in this process, with simulated network, disks and clocks, and break them: crashes,
partitions, loss, slow nodes, full disks and more, drawn from a seed. The nodes run the same core as the daemon, on
real query plans. All the while it is checked that results are those of a run without failures, come within max_delay,
and end stable.

A run is the same each time: --seed says which is the first, --runs how many follow. If a promise breaks, the faults are
made as few and short as they can be, and printed as a file that --spec takes. --trace writes what happened in one run,
one JSON object a line.

--spec takes a federation to break, or a case with its faults. Without it, each seed draws a federation of its own.`,
		Example: `  fednode testnet simulate --runs 1000
  fednode testnet simulate --seed 42 --trace trace.jsonl
  fednode testnet simulate --spec case.toml`,
		Args: exactArgs(0),
	}
	var s simulateFlags
	f := c.Flags()
	f.IntVar(&s.seed, "seed", 1, "seed of the first run")
	f.IntVar(&s.runs, "runs", 1, "how many runs, one a seed")
	f.StringVar(&s.spec, "spec", "", "file that describes the federation, and its faults if it has some")
	f.StringVar(&s.trace, "trace", "", "file for what happens in the one run, - for standard output")
	f.IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "runs at once")
	f.BoolVar(&s.keepGoing, "keep-going", false, "run every seed, and list those that break a promise")
	f.IntVar(&s.tries, "minimise", 500, "runs in which to make a plan that breaks a promise smaller; 0 leaves it")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := s.check(); err != nil {
			return err
		}
		return s.run(c)
	}
	return c
}

func (s *simulateFlags) check() error {
	switch {
	case s.seed < 0:
		return wrong("--seed %d: expected 0 or more", s.seed)
	case s.runs < 1 || s.runs > maxSimulatedRuns:
		return wrong("--runs %d: expected 1 to %d", s.runs, maxSimulatedRuns)
	case s.workers < 1 || s.workers > 1024:
		return wrong("--workers %d: expected 1 to 1024", s.workers)
	case s.tries < 0 || s.tries > maxSimulateTries:
		return wrong("--minimise %d: expected 0 to %d", s.tries, maxSimulateTries)
	case s.trace != "" && s.runs > 1:
		return wrong("--trace is of one run; leave --runs %d out", s.runs)
	}
	return nil
}

func (s *simulateFlags) run(c *cobra.Command) error {
	campaign := &sim.Campaign{First: uint64(s.seed), Runs: s.runs, Workers: s.workers, KeepGoing: s.keepGoing}
	if s.spec != "" {
		fixed, err := s.read(c, campaign)
		if err != nil {
			return err
		}
		if fixed != nil {
			return s.one(c, *fixed)
		}
	}
	if s.runs == 1 {
		one, err := campaign.Draw(campaign.First)
		if err != nil {
			return err
		}
		return s.one(c, one)
	}
	show := newSimulateShow(c, s.runs)
	campaign.Done = show.progress
	if s.keepGoing {
		campaign.Broke = show.broke
	}
	p, failures, err := campaign.Run(c.Context())
	show.clear()
	switch {
	case err != nil:
		return err
	case len(failures) > 0 && s.keepGoing:
		return s.listed(c, p, failures)
	case len(failures) > 0:
		return s.failed(c, &failures[0])
	}
	if err := show.sum(p); err != nil {
		return err
	}
	if c.Context().Err() != nil {
		return context.Cause(c.Context())
	}
	if missing := p.Coverage.Missing(); campaign.Spec == nil && p.Runs >= coveredRuns && len(missing) > 0 {
		return fmt.Errorf("%d runs never showed: %v", p.Runs, missing)
	}
	return nil
}

// read reads the file of --spec. It returns a case that has its faults, else nil, and gives the campaign the federation.
func (s *simulateFlags) read(c *cobra.Command, campaign *sim.Campaign) (*sim.Case, error) {
	f, err := os.Open(s.spec)
	if err != nil {
		return nil, &codeError{code: exitWrong, err: err}
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxCaseBytes+1))
	if err != nil {
		return nil, err
	}
	if len(src) > maxCaseBytes {
		return nil, wrong("%s: more than %d bytes", s.spec, maxCaseBytes)
	}
	fixed, drawn, err := sim.ReadCase(s.spec, src)
	if err != nil {
		return nil, err
	}
	if c.Flags().Changed("seed") {
		fixed.Seed = uint64(s.seed)
	}
	if !drawn {
		if s.runs > 1 {
			return nil, wrong("%s has its faults, so that every run would be the same; leave --runs out", s.spec)
		}
		return &fixed, nil
	}
	campaign.First, campaign.Spec = fixed.Seed, &fixed.Spec
	return nil, nil
}

// one runs one case.
func (s *simulateFlags) one(c *cobra.Command, one sim.Case) error {
	var o sim.Options
	if s.trace != "" {
		out := c.OutOrStdout()
		if s.trace != "-" {
			f, err := os.Create(s.trace)
			if err != nil {
				return err
			}
			defer f.Close()
			out = f
		}
		o.Trace = sim.NewTrace(out)
	}
	began := time.Now()
	r, err := sim.Execute(one, o)
	if err == nil && o.Trace != nil {
		err = o.Trace.Flush()
	}
	if err != nil {
		return simulateError(err)
	}
	if r.Breach != nil {
		return s.failed(c, &sim.Failure{Case: one, Breach: *r.Breach})
	}
	if s.trace == "-" {
		return nil
	}
	show := newSimulateShow(c, 1)
	show.began = began
	return show.sum(sim.ProgressOf(&r))
}

// simulateError gives errors of a case their exit codes.
func simulateError(err error) error {
	if errors.Is(err, sim.ErrCase) {
		return &codeError{code: exitWrong, err: err}
	}
	return err
}

// failed makes a failing case smaller, prints it, and returns the error that the command ends with.
func (s *simulateFlags) failed(c *cobra.Command, f *sim.Failure) error {
	small, breach := f.Case, f.Breach
	if s.tries > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "Seed %d breaks a promise. Making its %s smaller …\n", f.Case.Seed, plural(len(f.Case.Faults), "fault"))
		var err error
		if small, breach, err = sim.Minimise(f.Case, f.Breach, s.tries); err != nil {
			return err
		}
	}
	file := string(small.AppendTOML(nil))
	if jsonWanted(c) {
		if err := printJSON(c, simulateFailure{Seed: f.Case.Seed, Promise: breach.Promise, Text: breach.Text, Microseconds: breach.At, Case: file}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.OutOrStdout(), "# %s\n%s", &breach, file)
	}
	return fmt.Errorf("seed %d: %s", f.Case.Seed, &f.Breach)
}

// listed lists the failures of a campaign that went on.
func (s *simulateFlags) listed(c *cobra.Command, p sim.Progress, failures []sim.Failure) error {
	list := make([]simulateFailure, 0, len(failures))
	for i := range failures {
		f := &failures[i]
		list = append(list, simulateFailure{Seed: f.Case.Seed, Promise: f.Breach.Promise, Text: f.Breach.Text, Microseconds: f.Breach.At, Case: string(f.Case.AppendTOML(nil))})
	}
	if jsonWanted(c) {
		if err := printJSON(c, list); err != nil {
			return err
		}
	} else {
		for i := range failures {
			fmt.Fprintf(c.OutOrStdout(), "seed %d: %s\n", failures[i].Case.Seed, &failures[i].Breach)
		}
	}
	return fmt.Errorf("%s of %s break a promise", grouped(uint64(len(failures))), counted(uint64(p.Runs), "run"))
}

// simulateFailure is a failing case as JSON; Case is a file for --spec.
type simulateFailure struct {
	Seed         uint64 `json:"seed"`
	Promise      string `json:"promise"`
	Text         string `json:"text"`
	Microseconds int64  `json:"microseconds"`
	Case         string `json:"case"`
}
