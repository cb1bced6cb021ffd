package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fednode/testnet/scenario"
)

// Processes runs the part of the grid that is for real daemons: processes of this machine, with keys, sessions and logs of
// their own, whose connections a fault cuts.
type Processes struct {
	// Command is the executable of the daemons; "" is this process's own.
	Command string
	// Lengths are those of the failures.
	Lengths []time.Duration
	// Say is told of each step, for people; it may be nil.
	Say func(text string)
}

// Rates of each of the three sources, in rows a second: that of the grid, and the most that a testnet's sources write.
const (
	processRate     = 1500
	processRateMost = 5000
)

// Lengths returns those that are run on real daemons.
func Lengths(quick bool) []time.Duration {
	if quick {
		return []time.Duration{2 * time.Second, 10 * time.Second}
	}
	return []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}
}

// Run runs every cell once, one after the other. With an error it returns what had been measured.
func (p *Processes) Run(ctx context.Context) (*Experiment, error) {
	x := &Experiment{
		Key: "processes", Title: "Real daemons: a chain of two, an organisation cut off",
		Question: "Do processes over real connections behave as the simulator says?",
		Setup: "Seven daemons of three organisations, processes of one machine: what a partner sends is cut to the query's columns by two replicas at the partner, " +
			"then united by two replicas at home. One organisation of three is cut off. X = 3 s; sources declare a slack of 1 s, which is part of the normal delay. " +
			"Figures hang on what else the machine does.",
		Axis: "failure, s", Charts: []Measure{MeasureDelay, MeasureTentative, MeasureCorrected},
	}
	for _, rate := range []int{processRate, processRateMost} {
		panel := &Panel{Title: fmt.Sprintf("%d rows/s a stream", rate)}
		for _, pair := range []policies{bothProcess, delayProcess} {
			for _, length := range p.Lengths {
				c, err := p.cell(ctx, cut{rate: rate, pair: pair, length: length})
				if err != nil {
					return x, fmt.Errorf("%s, a failure of %s: %w", pair, length, err)
				}
				if panel.Cells = append(panel.Cells, c); len(panel.Cells) == 1 {
					x.Panels = append(x.Panels, panel)
				}
			}
		}
	}
	return x, nil
}

// cut is what one cell does.
type cut struct {
	rate   int
	pair   policies
	length time.Duration
}

// cell makes the files of a scenario, runs it, and takes its report over.
func (p *Processes) cell(ctx context.Context, k cut) (c *Cell, err error) {
	dir, err := os.MkdirTemp("", "fednode-evaluate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, text := range map[string]string{"watch.toml": processQuery(k.pair), "net.toml": processNet(k.rate)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	s, err := scenario.Parse(filepath.Join(dir, "cut.scenario"), []byte(processScenario(k.length)))
	if err != nil {
		return nil, err
	}
	r, err := scenario.Run(ctx, s, scenario.Options{Command: p.Command, Say: p.Say})
	if err != nil {
		return nil, err
	}
	return cellOf(r, k), nil
}

// cellOf takes a report over.
func cellOf(r *scenario.Report, k cut) *Cell {
	c := &Cell{Series: k.pair.String(), X: k.length.Seconds(), Bound: Micros(bound)}
	micros := func(seconds float64) Micros { return Micros(seconds * 1e6) }
	c.Figures = Figures{
		Runs: 1, Rows: int(r.StableRows), Normal: micros(r.NormalDelay), Normal99: micros(r.NormalDelay), Incremental: micros(r.LongestDelay),
		Delay: micros(r.NormalDelay + r.LongestDelay), Tentative: int(r.TentativeRows), Corrected: micros(r.Stabilise), Settled: micros(r.Stabilise),
	}
	if !r.Equal {
		c.Unequal = 1
	}
	for _, f := range r.Failures {
		c.Breaches = append(c.Breaches, fmt.Sprintf("expected %s; seen: %s", f.Expected, f.Seen))
	}
	return c
}

// processNet is the testnet of the scenarios.
func processNet(rate int) string {
	return fmt.Sprintf(`[testnet]
organisations = ["north", "south", "east"]
nodes = { north = 3, south = 2, east = 2 }
sources = 1
replicas = 2
query = "watch.toml"
live = %d
`, rate)
}

func processQuery(pair policies) string {
	return fmt.Sprintf(`[query]
name = "watch"
max_delay = "3s"
failure = %q
stabilization = %q

[streams.conns]
connector = "file"
path = "conns.csv"
follow = true
time = "ts"
max_out_of_order = "1s"
columns = { ts = { type = "timestamp", unit = "us" }, src = "string", n = "int64" }

[operators.all]
kind = "filter"
input = "conns"
where = "n > 0"

[outputs.rows]
input = "all"
connector = "file"
path = "rows.csv"
`, pair.failure, pair.stabilization)
}

func processScenario(length time.Duration) string {
	return fmt.Sprintf(`# One organisation is cut off.
testnet net.toml
wait 6s
partition south for %[1]s
wait %[1]s
within 90s: query watch is stable
wait 2s
never: a stable row is undone
finally: the stable stream equals an undisturbed run
finally: lost rows = 0
`, length)
}
