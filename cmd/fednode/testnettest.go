package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fednode/testnet"
	"fednode/testnet/scenario"
)

func testnetTestCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "test FILE...",
		Short: "Do scenarios of faults, and check what has to hold",
		Long: `Do scenarios of faults on real daemons, and check what has to hold. A file names a testnet, then a step a line:

  testnet replicated.toml
  wait 5s
  partition south for 30s
  within 10s: query watch is upstream_failure
  never: a stable row is undone
  finally: the stable stream equals an undisturbed run
  finally: longest delay <= 3.3s

Steps are waits, conditions with a time, and faults (see fednode testnet fault). FRAGMENT#1 is the first node that runs
a fragment, stabilising a node that corrects its results. A file that names no testnet is done on one that runs, and
leaves it without faults. With --check the files are only read.`,
		Example: `  fednode testnet test testnet/scenarios/*.scenario
  fednode testnet test --mode netns testnet/scenarios/partition-2s.scenario --json`,
		Args: minimumArgs(1),
	}
	mode := c.Flags().String("mode", "", "process or netns, instead of what the testnet's file says")
	dir := testnetDirFlag(c)
	check := c.Flags().Bool("check", false, "read the files and do nothing")
	c.RunE = func(c *cobra.Command, files []string) error {
		if !slices.Contains([]string{"", testnet.ModeProcess, testnet.ModeNetns}, *mode) {
			return wrong("--mode %s: expected %s or %s", *mode, testnet.ModeProcess, testnet.ModeNetns)
		}
		list, err := readScenarios(files)
		if err != nil || *check {
			return err
		}
		t := scenarioTest{mode: *mode, dir: *dir, json: jsonWanted(c), out: c.ErrOrStderr()}
		err = t.run(c.Context(), list)
		return errors.Join(t.show(c), testnetError(err))
	}
	return c
}

// readScenarios reads all files, and says all that is wrong with any.
func readScenarios(files []string) (list []*scenario.Scenario, err error) {
	for _, file := range files {
		src, err := readLimited(file, maxQueryBytes)
		if err != nil {
			return nil, err
		}
		s, err := scenario.Parse(file, src)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// scenarioTest runs scenarios one after the other.
type scenarioTest struct {
	mode    string
	dir     string // of a testnet that runs
	json    bool
	out     io.Writer
	reports []*scenario.Report
}

// run runs all, also after one that could not be run to its end.
func (t *scenarioTest) run(ctx context.Context, list []*scenario.Scenario) error {
	var errs []error
	for _, s := range list {
		fmt.Fprintf(t.out, "%s: %s\n", s.Name, s.Title)
		began := time.Now()
		r, err := scenario.Run(ctx, s, scenario.Options{Mode: t.mode, Running: t.dir, Say: func(text string) {
			fmt.Fprintf(t.out, "  %5.1f s  %s\n", time.Since(began).Seconds(), text)
		}})
		if r != nil {
			t.reports = append(t.reports, r)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// show prints the table, and fails if anything did not hold.
func (t *scenarioTest) show(c *cobra.Command) error {
	failed := 0
	for _, r := range t.reports {
		if !r.OK() {
			failed++
		}
	}
	if t.json {
		if err := printJSON(c, map[string]any{"scenarios": t.reports}); err != nil {
			return err
		}
	} else if len(t.reports) > 0 {
		w := c.OutOrStdout()
		for _, line := range scenarioTable(t.reports).lines(paletteOf(w)) {
			fmt.Fprintln(w, line)
		}
		for _, r := range t.reports {
			if r.Slowest != nil {
				fmt.Fprintf(w, "%s: the slowest row: %s\n", r.Scenario, r.Slowest)
			}
			for _, f := range r.Failures {
				fmt.Fprintf(w, "%s: expected %s; seen: %s\n", f.At, f.Expected, f.Seen)
			}
			if !r.OK() {
				fmt.Fprintf(w, "  its daemons' directories are in %s\n", r.Dir)
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s did not hold", failed, plural(len(t.reports), "scenario"))
	}
	return nil
}

// scenarioTable has a line for each scenario.
func scenarioTable(reports []*scenario.Report) *table {
	t := &table{head: []string{"scenario", "mode", "tentative", "longest delay", "stabilised", "stable rows", "stream", "took", ""}}
	for _, r := range reports {
		equal := "-" // nothing to compare with
		switch {
		case r.Equal:
			equal = "equal"
		case r.Part:
			equal = "part"
		case r.Difference != "":
			equal = "differs"
		}
		result := cell{"held", toneGood}
		if !r.OK() {
			result = cell{fmt.Sprintf("%d failed", len(r.Failures)), toneBad}
		}
		cells := plainCells(r.Scenario, r.Mode, grouped(r.TentativeRows), fmt.Sprintf("%.2f s", r.LongestDelay),
			fmt.Sprintf("%.2f s", r.Stabilise), grouped(r.StableRows), equal, fmt.Sprintf("%.0f s", r.Seconds))
		t.add(append(cells, result)...)
	}
	t.alignRight(2, 3, 4, 5, 7)
	return t
}
