package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/enginebench"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	runs    int
	records int
	quick   bool
	dir     string
	profile string
	// say tells people of a step, where a part takes minutes.
	say func(text string)
}

// benchGroup is one part of the benchmarks.
type benchGroup struct {
	name    string
	measure func(ctx context.Context, o benchOptions) ([]benchmark, error)
}

func benchGroups() []benchGroup {
	return []benchGroup{{"engine", benchEngine}, {"wire", benchWire}, {"log", benchLog}, {"latency", benchLatency}, {"daemons", benchDaemons},
		{"failover", benchFailover}, {"regions", benchRegions}}
}

// Limits of the flags: more is a mistake.
const (
	maxBenchRuns    = 1000
	maxBenchRecords = 200_000_000
	minBenchRecords = 100_000
)

func benchCommand() *cobra.Command {
	var names []string
	for _, g := range benchGroups() {
		names = append(names, g.name)
	}
	c := &cobra.Command{
		Use:   "bench [" + strings.Join(names, "|") + "]",
		Short: "Measure this build on this machine, beside plain code that does the same",
		Long: `Measure this build on this machine. Every figure that has one stands beside a plain loop, codec or file that does the
same and nothing else, measured in turn in the same run: ratio is the plain one's time by ours, so 1 is as fast.

engine  queries over 4.8 million connection records in memory, CPU time on one processor, results compared with those of
        the plain loop; SUnion and SOutput around a query; the ordered path of an SUnion
wire    records through the wire format, in memory and over a TCP connection
log     durable appends, beside a plain file that is synced as often; in --dir, for disks differ
latency from the record that closes a window, through the durable log, to its result at the sink; the median of many
daemons two daemons, processes that speak over loopback: from a source proxy and its durable log at one to a client
        proxy at the other; processor time is that of both
failover
        what failures cost on real daemons, seven processes with two replicas of everything: a replica is killed, or
        stands still; an organisation is cut off for just less than the hold time; and what the chain adds without any
        failure. Each --runs times, of which the median and the worst are shown: half a minute a run
regions what restarts after a failure, found over an all-to-all exchange of 1,000 to 10,000 producers and as many
        consumers, beside a search that looks at every edge; a record is a vertex, growth is by the smallest

Without an argument, all of them. Other work on the machine shows in the figures; look at the ratios.`,
		Example: `  fednode bench
  fednode bench engine --runs 15
  fednode bench log --dir /var/lib/fednode --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrong("%s takes at most one argument, got %d; see %s --help", c.CommandPath(), len(args), c.CommandPath())
			}
			if len(args) == 1 && !slices.Contains(names, args[0]) {
				return wrong("bench has no part `%s`; expected one of %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgs: names,
	}
	var o benchOptions
	c.Flags().IntVar(&o.runs, "runs", 7, "interleaved runs of each side, of which the medians are shown")
	c.Flags().IntVar(&o.records, "records", enginebench.Default().Records, "records of a run of engine and daemons")
	c.Flags().BoolVar(&o.quick, "quick", false, "3 runs, and a quarter of the records: a first look, in some seconds")
	c.Flags().StringVar(&o.dir, "dir", "", "directory for what log, latency, daemons and failover write and remove (default the system's temporary)")
	c.Flags().StringVar(&o.profile, "profile", "", "directory for processor profiles of the two daemons (pprof)")
	c.AddCommand(benchServeCommand())
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.complete(c); err != nil {
			return err
		}
		return runBench(c, args, o)
	}
	return c
}

// complete checks the flags and lets --quick set what was not given.
func (o *benchOptions) complete(c *cobra.Command) error {
	if o.quick && !c.Flags().Changed("runs") {
		o.runs = 3
	}
	if o.quick && !c.Flags().Changed("records") {
		o.records /= 4
	}
	if o.dir == "" {
		o.dir = os.TempDir()
	}
	if o.runs < 1 || o.runs > maxBenchRuns {
		return wrong("--runs %d: expected 1 to %d", o.runs, maxBenchRuns)
	}
	if o.records < minBenchRecords || o.records > maxBenchRecords {
		return wrong("--records %d: expected %d to %d", o.records, minBenchRecords, maxBenchRecords)
	}
	for _, d := range []struct{ flag, path string }{{"--dir", o.dir}, {"--profile", o.profile}} {
		if info, err := os.Stat(d.path); d.path != "" && (err != nil || !info.IsDir()) {
			return wrong("%s %s: expected a directory that exists", d.flag, d.path)
		}
	}
	return nil
}

func runBench(c *cobra.Command, args []string, o benchOptions) error {
	all := []benchmark{}
	o.say = func(text string) { fmt.Fprintf(c.ErrOrStderr(), "%s\n", text) }
	for _, g := range benchGroups() {
		if len(args) == 1 && args[0] != g.name {
			continue
		}
		got, err := g.measure(c.Context(), o)
		all = append(all, got...)
		if !jsonWanted(c) {
			printBenchmarks(c.OutOrStdout(), g.name, got)
		}
		if err != nil {
			return fmt.Errorf("bench %s: %w", g.name, err)
		}
	}
	if jsonWanted(c) {
		return printJSON(c, map[string]any{"benchmarks": all})
	}
	fmt.Fprintf(c.OutOrStdout(), "%s, %s/%s, %s; medians of interleaved runs\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, plural(runtime.NumCPU(), "processor"))
	return nil
}
