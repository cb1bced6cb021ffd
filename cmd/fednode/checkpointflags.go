package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fednode/query/tuple"
	"fednode/storage/plan"
	"fednode/storage/plan/failures"
)

// checkpointFlags are the flags of checkpoint plan and simulate, as they were typed.
type checkpointFlags struct {
	rates, costs, restarts []string
	pathLength             int
	hopDelay               string
	plots                  string
	// of simulate
	simulation         bool
	interval, duration string
	probabilities      []string
	runs               int
	seed               uint64
}

// checkpointInput is what they say.
type checkpointInput struct {
	system  plan.System
	fixed   plan.Fixed
	options failures.Options
	plots   string
}

func (f *checkpointFlags) declare(c *cobra.Command) {
	s := c.Flags()
	s.StringSliceVar(&f.rates, "failure-rate", nil, "failures of each level, such as 24/d,0.4/d")
	s.StringSliceVar(&f.costs, "cost", nil, "how long a checkpoint of each level takes, such as 10s,30s")
	s.StringSliceVar(&f.restarts, "restart", nil, "how long going on from a checkpoint of each level takes, such as 10s,30s")
	s.IntVar(&f.pathLength, "path-length", 1, "operators on the longest path of a region that restarts as a whole")
	s.StringVar(&f.hopDelay, "hop-delay", "0s", "how long a checkpoint takes from one operator of the path to the next")
	s.StringVar(&f.plots, "plots", "", "directory for charts; it is made if it does not exist")
}

func (f *checkpointFlags) declareSimulation(c *cobra.Command) {
	f.simulation = true
	s := c.Flags()
	s.StringVar(&f.interval, "interval", "", "time from one checkpoint to the next, instead of the best")
	s.StringSliceVar(&f.probabilities, "probabilities", nil, "share of each level, summing to 1, instead of the best")
	s.IntVar(&f.runs, "runs", 100, "processes to simulate")
	s.Uint64Var(&f.seed, "seed", 1, "decides every failure and every level drawn")
	s.StringVar(&f.duration, "duration", "", "how long each process runs, such as 2500d")
}

// mistakes collects what is wrong with a command line, to be told all at once.
type mistakes struct{ all []error }

func (m *mistakes) add(format string, args ...any) {
	m.all = append(m.all, fmt.Errorf(format, args...))
}

// flagOf names the flag that a value of a plan came from.
func flagOf(f plan.Field) string { return "--" + strings.ReplaceAll(string(f), " ", "-") }

// take adds the errors of package plan, each under its flag.
func (m *mistakes) take(err error) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			m.take(e)
		}
		return
	}
	var v *plan.ValueError
	if errors.As(err, &v) {
		m.add("%s%s", flagOf(v.Field), v.Rest())
		return
	}
	m.all = append(m.all, err)
}

// err returns all mistakes as one error, nil if there is none.
func (m *mistakes) err(c *cobra.Command) error {
	if len(m.all) == 0 {
		return nil
	}
	return wrong("%w\nsee %s --help", errors.Join(m.all...), c.CommandPath())
}

// read turns the flags into values, or tells every mistake.
func (f *checkpointFlags) read(c *cobra.Command) (checkpointInput, error) {
	var m mistakes
	in := checkpointInput{plots: f.plots}
	known := f.readSystem(&m, &in.system)
	if known {
		m.take(in.system.Check())
	}
	known = len(m.all) == 0
	if f.simulation {
		f.readSimulation(c, &m, &in)
		if known {
			m.take(in.fixed.Check(&in.system))
		}
	}
	if f.plots != "" {
		if info, err := os.Stat(f.plots); err == nil && !info.IsDir() {
			m.add("--plots %s: expected a directory", f.plots)
		}
	}
	return in, m.err(c)
}

// readSystem reports whether every list was read and has one value a level.
func (f *checkpointFlags) readSystem(m *mistakes, s *plan.System) bool {
	before := len(m.all)
	rates := readList(m, "--failure-rate", f.rates, parseRate)
	costs := readList(m, "--cost", f.costs, parseSeconds)
	restarts := readList(m, "--restart", f.restarts, parseSeconds)
	if rates != nil && costs != nil && restarts != nil {
		for _, l := range []struct {
			flag string
			n    int
		}{{"--cost", len(costs)}, {"--restart", len(restarts)}} {
			if l.n != len(rates) {
				m.add("%s: %s: expected one for each of the %s of --failure-rate", l.flag, plural(l.n, "value"), plural(len(rates), "level"))
			}
		}
	}
	lists := len(m.all) == before
	s.PathLength = f.pathLength
	if f.pathLength < 1 {
		m.add("--path-length: %d: expected 1 to %s operators", f.pathLength, grouped(plan.MaxPathLength))
		s.PathLength = 1
	}
	if hop, err := parseSeconds(f.hopDelay); err != nil {
		m.add("--hop-delay %s: %w", f.hopDelay, err)
	} else {
		s.HopDelay = hop
	}
	if !lists {
		// What does not depend on the levels is told as well.
		rest := plan.System{Levels: []plan.Level{{}}, PathLength: s.PathLength, HopDelay: s.HopDelay}
		m.take(rest.Check())
		return false
	}
	for i := range rates {
		s.Levels = append(s.Levels, plan.Level{Rate: rates[i], Cost: costs[i], Restart: restarts[i]})
	}
	return true
}

func (f *checkpointFlags) readSimulation(c *cobra.Command, m *mistakes, in *checkpointInput) {
	in.options = failures.Options{Runs: f.runs, Seed: f.seed}
	if f.runs < 2 || f.runs > failures.MaxRuns {
		m.add("--runs %d: expected 2 to %s", f.runs, grouped(failures.MaxRuns))
	}
	for _, d := range []struct {
		flag, text string
		into       *plan.Seconds
	}{{"interval", f.interval, &in.fixed.Interval}, {"duration", f.duration, &in.options.Duration}} {
		if !c.Flags().Changed(d.flag) {
			continue
		}
		switch v, err := parseSeconds(d.text); {
		case err != nil:
			m.add("--%s %s: %w", d.flag, d.text, err)
		case v <= 0:
			m.add("--%s %s: expected more than 0", d.flag, d.text)
		default:
			*d.into = v
		}
	}
	if c.Flags().Changed("probabilities") {
		in.fixed.Probabilities = readList(m, "--probabilities", f.probabilities, func(text string) (float64, error) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, errors.New("expected a number of 0 to 1")
			}
			return v, nil
		})
	}
}

// readList reads the values of a flag; nil, and why, if one cannot be read or there is none.
func readList[T any](m *mistakes, flag string, texts []string, parse func(string) (T, error)) []T {
	if len(texts) == 0 {
		m.add("%s is missing: expected one value for each level", flag)
		return nil
	}
	var out []T
	for i, text := range texts {
		v, err := parse(strings.TrimSpace(text))
		if err != nil {
			m.add("%s, level %d, `%s`: %w", flag, i+1, clean(text), err)
			continue
		}
		out = append(out, v)
	}
	if len(out) < len(texts) {
		return nil
	}
	return out
}

// parseSeconds reads a duration.
func parseSeconds(text string) (plan.Seconds, error) {
	us, err := tuple.ParseDuration(text)
	if err != nil {
		return 0, errors.New("expected a duration such as 0.5s, 10s or 2m")
	}
	return plan.Seconds(us) / plan.Seconds(tuple.Second), nil
}

// parseRate reads a number of failures in a time: 24/d, 1/30d.
func parseRate(text string) (plan.Rate, error) {
	expected := errors.New("expected failures in a time such as 24/d, 0.5/h or 1/30d")
	count, per, ok := strings.Cut(text, "/")
	if !ok {
		return 0, expected
	}
	if per != "" && (per[0] < '0' || per[0] > '9') {
		per = "1" + per
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(count), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, expected
	}
	us, err := tuple.ParseDuration(strings.TrimSpace(per))
	if err != nil || us <= 0 {
		return 0, expected
	}
	return plan.Rate(n / (float64(us) / float64(tuple.Second))), nil
}
