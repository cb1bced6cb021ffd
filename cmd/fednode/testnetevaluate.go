package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/evaluatepage"
	"fednode/testnet/evaluate"
)

// evaluateFlags are the flags of testnet evaluate.
type evaluateFlags struct {
	out            string
	only           []string
	quick          bool
	processes      bool
	seeds, workers int
}

// maxEvaluateSeeds bounds how many runs a cell can have.
const maxEvaluateSeeds = 1000

func testnetEvaluateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "evaluate",
		Short: "Measure what failures cost: delay, tentative rows, time to correct",
		Long: `Measure what failures cost, over a grid of failures, policies, bounds and chains of nodes: how late new results
become, how many are tentative, and how long it takes until all are correct again. Every run is checked like those of
testnet simulate; figures that have a target stand beside it.

The federations are simulated, with the daemon's own core, so that figures are the same on every machine. Each cell is
run under --seeds seeds: times are the longest, numbers of rows the average.

With --processes, or as --only processes, real daemons are measured as well, processes of this machine: the highest rate
of the sources with which one node and chains of two to four keep up, what bounds it and what each daemon uses, and what
failures cost where connections of one node and of a chain of two are cut. Those figures depend on the machine and on
what else it does.

--out writes evaluation.json and evaluation.html, a page with plots that needs no network. The command fails if a
promise broke in a run; a target that is missed is shown, and is no failure.`,
		Example: `  fednode testnet evaluate --quick
  fednode testnet evaluate --out evaluation
  fednode testnet evaluate --only chain,overlap --json`,
		Args: exactArgs(0),
	}
	var e evaluateFlags
	f := c.Flags()
	f.StringVar(&e.out, "out", "", "directory for evaluation.json and evaluation.html; it is made if it does not exist")
	f.StringSliceVar(&e.only, "only", nil, "only these experiments: "+strings.Join(experimentKeys(), ", "))
	f.BoolVar(&e.quick, "quick", false, "every other length and rate, and one seed unless --seeds says more")
	f.BoolVar(&e.processes, "processes", false, "also the part that is for real daemons; it takes about a minute a cell")
	f.IntVar(&e.seeds, "seeds", 3, "runs of each cell")
	f.IntVar(&e.workers, "workers", runtime.GOMAXPROCS(0), "runs at once")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if e.quick && !c.Flags().Changed("seeds") {
			e.seeds = 1
		}
		if err := e.check(); err != nil {
			return err
		}
		return e.run(c)
	}
	return c
}

func experimentKeys() []string {
	var keys []string
	for _, x := range evaluate.Grid(true) {
		keys = append(keys, x.Key)
	}
	return append(keys, evaluate.ProcessesKey)
}

func (e *evaluateFlags) check() error {
	switch {
	case e.seeds < 1 || e.seeds > maxEvaluateSeeds:
		return wrong("--seeds %d: expected 1 to %d", e.seeds, maxEvaluateSeeds)
	case e.workers < 1 || e.workers > 1024:
		return wrong("--workers %d: expected 1 to 1024", e.workers)
	}
	keys := experimentKeys()
	for _, k := range e.only {
		if !slices.Contains(keys, k) {
			return wrong("--only %s: there is no such experiment; expected some of %s", clean(k), strings.Join(keys, ", "))
		}
	}
	if e.out == "" {
		return nil
	}
	if err := os.MkdirAll(e.out, 0o755); err != nil {
		return &codeError{code: exitWrong, err: fmt.Errorf("--out: %w", err)}
	}
	return nil
}

func (e *evaluateFlags) run(c *cobra.Command) error {
	began := time.Now()
	e.processes = e.processes || slices.Contains(e.only, evaluate.ProcessesKey)
	list := evaluate.Grid(e.quick)
	if len(e.only) > 0 {
		list = slices.DeleteFunc(list, func(x *evaluate.Experiment) bool { return !slices.Contains(e.only, x.Key) })
	}
	show := newEvaluateProgress(c)
	grid := &evaluate.Evaluation{Experiments: list, Seeds: e.seeds, Workers: e.workers, Done: show.ended}
	if err := grid.Run(c.Context()); err != nil {
		return err
	}
	show.clear()
	var failed error // real daemons may fail to run at all; what has been measured is shown all the same
	if e.processes {
		var real *evaluate.Experiment
		if real, failed = (&evaluate.Processes{Lengths: evaluate.Lengths(e.quick), Say: show.say}).Run(c.Context()); failed == nil || len(real.Rates) > 0 {
			list = append(list, real)
		}
	}
	v := readVersion(debug.ReadBuildInfo())
	d := &evaluate.Document{
		Command: evaluateCommandLine(c), Version: v.Version + " (" + v.Revision + ")", Made: began.UTC().Format(time.RFC3339),
		Took: evaluate.Micros(time.Since(began).Microseconds()), Seeds: e.seeds, Experiments: list, Targets: evaluate.Targets(list), Absent: evaluate.Absent(e.processes),
		Machine: fmt.Sprintf("%s with %s", v.Platform, plural(runtime.NumCPU(), "processor")),
	}
	if err := e.write(d); err != nil {
		return err
	}
	if jsonWanted(c) {
		if err := printJSON(c, d); err != nil {
			return err
		}
	} else {
		printEvaluation(c.OutOrStdout(), d)
	}
	if broken := d.Broken(); len(broken) > 0 {
		failed = errors.Join(failed, fmt.Errorf("promises that did not hold: %s", strings.Join(broken, "; ")))
	}
	return failed
}

// evaluateCommandLine is the command that makes the same again.
func evaluateCommandLine(c *cobra.Command) string {
	line := c.CommandPath()
	for _, name := range []string{"only", "quick", "seeds", "processes"} {
		f := c.Flags().Lookup(name)
		switch {
		case !f.Changed:
		case f.Value.Type() == "bool":
			line += " --" + name
		default:
			line += " --" + name + " " + strings.Trim(f.Value.String(), "[]")
		}
	}
	return line
}

// write writes the two files.
func (e *evaluateFlags) write(d *evaluate.Document) error {
	if e.out == "" {
		return nil
	}
	if err := writeJSONFile(filepath.Join(e.out, "evaluation.json"), d); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(e.out, "evaluation.html"))
	if err != nil {
		return err
	}
	return errors.Join(evaluatepage.Write(f, d), f.Close())
}
