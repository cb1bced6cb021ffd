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

// ProcessesKey names the experiment that is for real daemons.
const ProcessesKey = "processes"

// processRate is that of the grid, in rows a second of each of three sources; processRateMany is 100 times that, which is
// run if the machine holds it.
const (
	processRate     = 1500
	processRateMany = 100 * processRate
)

// setup is a federation of daemons, and who of it is cut off.
type setup struct {
	name            string
	nodes, replicas int
	net             string // the sections of its testnet, but for the rate
	away            string
}

// sources is how many there are in each setup.
const sources = 3

// setups are one node alone, which reads three sources of its own organisation, and a chain of two with two replicas each.
func setups() []setup {
	return []setup{
		{name: "one node", nodes: 1, replicas: 1, away: "north-3", net: `organisations = ["north"]
nodes = { north = 3 }
sources = 3
`},
		chainOf(2, 2),
	}
}

// Lengths returns those that are run on real daemons.
func Lengths(quick bool) []time.Duration {
	if quick {
		return []time.Duration{2 * time.Second, 10 * time.Second}
	}
	return []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}
}

// Run looks for the highest rate that is held, and runs every cell once, one after the other. With an error it returns what
// had been measured.
func (p *Processes) Run(ctx context.Context) (*Experiment, error) {
	x := &Experiment{
		Key: ProcessesKey, Title: "Real daemons: one node and chains, a source's node or an organisation cut off",
		Question: "Do processes over real connections behave as the simulator says, also at 100 times the rates? Which rates do chains hold, and what bounds them?",
		Setup: "Processes of one machine. One node: three daemons of one organisation with a source each; one of them runs the query, another is cut off. " +
			"A chain of two: seven daemons of three organisations; what a partner sends is cut to the query's columns by two replicas at the partner, " +
			"then united by two replicas at home; one organisation of three is cut off. X = 3 s; sources declare a slack of 1 s, which is part of the normal delay. " +
			"At high rates one row in 100 is a result, so that the client gets as many as at low ones. Deeper chains have further fragments at home, each at a daemon of its own where there " +
			"are no replicas, and at the same two where there are; all rows go through all of them. Figures hang on what else the machine does.",
		Axis: "failure, s", Charts: []Measure{MeasureDelay, MeasureTentative, MeasureCorrected},
	}
	for _, s := range setups() {
		list, err := p.peak(ctx, x, s)
		if err != nil {
			return x, err
		}
		for _, rate := range ratesOf(list) {
			if err := p.panel(ctx, x, s, rate); err != nil {
				return x, err
			}
		}
	}
	for _, s := range chains() {
		if _, err := p.peak(ctx, x, s); err != nil {
			return x, err
		}
	}
	return x, nil
}

// peak looks for the highest rate that a setup holds.
func (p *Processes) peak(ctx context.Context, x *Experiment, s setup) ([]Rate, error) {
	list, err := p.climb(ctx, s)
	x.Rates = append(x.Rates, list...)
	if peak := peakOf(list); peak != nil {
		x.Peaks = append(x.Peaks, peak)
		x.Notes = append(x.Notes, peak.String())
	}
	return list, err
}

// ratesOf are the rates at which failures are measured: that of the grid, and 100 times that, or else the highest that is held.
func ratesOf(list []Rate) []int {
	rates := []int{processRate}
	if best := highest(list); best != nil {
		rates = append(rates, min(best.Asked, processRateMany))
	}
	return rates
}

// panel runs the cells of one setup and rate.
func (p *Processes) panel(ctx context.Context, x *Experiment, s setup, rate int) error {
	panel := &Panel{Title: fmt.Sprintf("%s, %d rows/s a stream", s.name, rate)}
	for _, pair := range []policies{bothProcess, delayProcess} {
		for _, length := range p.Lengths {
			p.say(fmt.Sprintf("%s, %s, a failure of %s", panel.Title, pair, length))
			c, err := p.cell(ctx, cut{setup: s, rate: rate, pair: pair, length: length})
			if err != nil {
				return fmt.Errorf("%s, %s, a failure of %s: %w", panel.Title, pair, length, err)
			}
			if panel.Cells = append(panel.Cells, c); len(panel.Cells) == 1 {
				x.Panels = append(x.Panels, panel)
			}
		}
	}
	return nil
}

func (p *Processes) say(text string) {
	if p.Say != nil {
		p.Say(text)
	}
}

// cut is what one cell does.
type cut struct {
	setup
	rate   int
	pair   policies
	length time.Duration
	few    bool // one row in 100 is a result, whatever the rate
}

// cell makes the files of a scenario, runs it, and takes its report over.
func (p *Processes) cell(ctx context.Context, k cut) (c *Cell, err error) {
	dir, err := os.MkdirTemp("", "fednode-evaluate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeFiles(dir, k); err != nil {
		return nil, err
	}
	s, err := scenario.Parse(filepath.Join(dir, "cut.scenario"), []byte(processScenario(k)))
	if err != nil {
		return nil, err
	}
	r, err := scenario.Run(ctx, s, scenario.Options{Command: p.Command, Say: p.Say})
	if err != nil {
		return nil, err
	}
	return cellOf(r, k), nil
}

// writeFiles writes testnet and query of a cell.
func writeFiles(dir string, k cut) error {
	for name, text := range map[string]string{"watch.toml": processQuery(k), "net.toml": processNet(k)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
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

// processNet is the testnet of a setup.
func processNet(k cut) string {
	return fmt.Sprintf("[testnet]\n%squery = \"watch.toml\"\nlive = %d\n", k.net, k.rate)
}

// passes is which rows are results: all of them, or so few at high rates that the client is not what is measured.
func (k cut) passes() string {
	if k.few || k.rate > processRate {
		return "mod(n, 100) = 0"
	}
	return "n > 0"
}

func processQuery(k cut) string {
	operators, last := k.operators(k.passes())
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

%s%s[outputs.rows]
input = %q
connector = "file"
path = "rows.csv"
`, k.pair.failure, k.pair.stabilization, operators, k.fragments(), last)
}

func processScenario(k cut) string {
	return fmt.Sprintf(`# A part is cut off.
testnet net.toml
wait 6s
partition %[2]s for %[1]s
wait %[1]s
within 90s: query watch is stable
wait 2s
never: a stable row is undone
finally: the stable stream equals an undisturbed run
finally: lost rows = 0
`, k.length, k.away)
}
