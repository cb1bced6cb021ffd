package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/chart"
	"fednode/cmd/fednode/internal/report"
	"fednode/mpa/balance/sim"
)

// balancePage is what a page of balance simulate shows.
type balancePage struct {
	text     string
	sections []report.Section
}

// draw writes the page and the plots that are asked for.
func (s *balanceFlags) draw(c *cobra.Command, plots []plot, page func() balancePage) error {
	if err := writePlots(s.plots, plots); err != nil || s.html == "" {
		return err
	}
	p := page()
	f, err := os.Create(s.html)
	if err != nil {
		return err
	}
	r := &report.Report{Title: "How load is spread over nodes", Command: commandLine(c), Version: readVersion(debug.ReadBuildInfo()).Version,
		Made: time.Now().UTC().Format(time.RFC3339), Text: p.text, Sections: p.sections}
	return errors.Join(report.Write(f, r), f.Close())
}

// mostDots is up to how many dots a line over rounds has.
const mostDots = 240

// overRounds draws a figure of every round, and of the start as round 0 where there is one. Of many rounds the mean of each
// few is drawn.
func overRounds(n int, of func(round int) float64) []chart.Dot {
	step := (n + mostDots - 1) / mostDots
	var dots []chart.Dot
	for i := 0; i < n; i += max(step, 1) {
		sum, count := 0.0, 0.0
		for k := i; k < min(i+max(step, 1), n); k++ {
			sum += of(k)
			count++
		}
		dots = append(dots, chart.Dot{X: float64(i), Y: sum / count})
	}
	return dots
}

// usageAt is what nodes were at after a round, 0 being the start.
func (d *balanceDone) usageAt(round int) []float64 {
	if round == 0 {
		return d.Initial
	}
	return d.Rounds[round-1].Usage
}

// usageChart draws the usage of each node over rounds, or of many nodes the highest, the mean and the lowest.
func usageChart(d *balanceDone) *chart.Chart {
	c := &chart.Chart{Title: "Usage with migrator " + d.cfg.Balance.Migrator.String(), XName: "round", YUnit: "usage, %", Wide: true, Exact: true}
	n := len(d.Rounds) + 1
	if len(d.Initial) <= mostLines {
		for i := range d.Initial {
			c.Series = append(c.Series, chart.Series{Name: fmt.Sprintf("node %d", i), Dots: overRounds(n, func(r int) float64 { return d.usageAt(r)[i] })})
		}
		return c
	}
	mean := func(list []float64) (m float64) {
		for _, v := range list {
			m += v / float64(len(list))
		}
		return m
	}
	for _, line := range []struct {
		name string
		of   func([]float64) float64
	}{{"highest", slices.Max[[]float64]}, {"mean", mean}, {"lowest", slices.Min[[]float64]}} {
		c.Series = append(c.Series, chart.Series{Name: line.name, Dots: overRounds(n, func(r int) float64 { return line.of(d.usageAt(r)) })})
	}
	return c
}

// deviationChart draws how far apart nodes are over time, with every migrator and without.
func deviationChart(done []balanceDone, period time.Duration) chart.Chart {
	c := chart.Chart{ID: "deviation", Title: "Standard deviation of usage while load varies", XName: "hours", YUnit: "points", Wide: true, Exact: true}
	inHours := func(dots []chart.Dot) []chart.Dot {
		for i := range dots {
			dots[i].X *= period.Hours()
		}
		return dots
	}
	for i := range done {
		d := &done[i]
		c.Series = append(c.Series, chart.Series{Name: d.cfg.Balance.Migrator.String(), Dots: inHours(overRounds(len(d.Rounds), func(r int) float64 {
			return d.Spread(r+1, false).Deviation
		}))})
	}
	first := &done[0]
	c.Series = append(c.Series, chart.Series{Name: "nothing moves", Dots: inHours(overRounds(len(first.Rounds), func(r int) float64 {
		return first.Spread(r+1, true).Deviation
	}))})
	return c
}

// movesChart draws how much has moved over time.
func movesChart(done []balanceDone, period time.Duration) chart.Chart {
	c := chart.Chart{ID: "moves", Title: "Moves so far while load varies", XName: "hours", YUnit: "moves", Wide: true, Exact: true}
	for i := range done {
		d := &done[i]
		sums := make([]float64, len(d.Rounds))
		total := 0
		for r := range d.Rounds {
			for _, m := range d.Rounds[r].Moved {
				if !m.Failed {
					total++
				}
			}
			sums[r] = float64(total)
		}
		dots := overRounds(len(sums), func(r int) float64 { return sums[r] })
		for k := range dots {
			dots[k].X *= period.Hours()
		}
		c.Series = append(c.Series, chart.Series{Name: d.cfg.Balance.Migrator.String(), Dots: dots})
	}
	return c
}

// afterChart draws what each node is at before, and at rest with every migrator.
func afterChart(done []balanceDone) chart.Chart {
	c := chart.Chart{ID: "after", Title: "Usage at the start and at rest", XName: "node", YUnit: "usage, %"}
	line := func(name string, usage []float64) {
		s := chart.Series{Name: name}
		for i, v := range usage {
			s.Dots = append(s.Dots, chart.Dot{X: float64(i), Y: v})
		}
		c.Series = append(c.Series, s)
	}
	for i := range done {
		line(done[i].cfg.Balance.Migrator.String(), done[i].Final())
	}
	line("start", done[0].Initial) // last, so that a migrator has one colour on all charts
	return c
}

// runPlots are the plots of runs.
func runPlots(done []balanceDone, period time.Duration) []plot {
	if done[0].cfg.Vary.Varies() {
		return []plot{{"deviation.svg", deviationChart(done, period)}, {"moves.svg", movesChart(done, period)}}
	}
	return []plot{{"after.svg", afterChart(done)}}
}

func runPage(done []balanceDone, period time.Duration) balancePage {
	p := balancePage{text: "Usage is in percent of a node's capacity. A run is at rest when nothing moves any more."}
	sums := report.Table{Columns: runHead(done), Left: []int{0}}
	over := report.Section{Key: "rounds", Title: "Over rounds", Text: "Round 0 is the start. Of many rounds, means of a few are drawn."}
	reasons := report.Table{Title: "Every decision", Columns: []string{"migrator", "round", "decision"}, Left: []int{0, 2}, Folded: true}
	for i := range done {
		d := &done[i]
		sums.Rows = append(sums.Rows, runCells(d, period))
		over.Charts = append(over.Charts, usageChart(d))
		for r := range d.Rounds {
			for _, line := range roundLines(&d.Rounds[r]) {
				reasons.Rows = append(reasons.Rows, []string{d.cfg.Balance.Migrator.String(), fmt.Sprint(r + 1), line})
			}
		}
	}
	if len(reasons.Rows) > mostReasons {
		reasons.Title = fmt.Sprintf("The first %d of %d decisions", mostReasons, len(reasons.Rows))
		reasons.Rows = reasons.Rows[:mostReasons]
	}
	compared := report.Section{Key: "sum", Title: "What it comes to", Tables: []report.Table{sums}}
	for _, plot := range runPlots(done, period) {
		c := plot.chart
		compared.Charts = append(compared.Charts, &c)
	}
	p.sections = []report.Section{compared, over, {Key: "reasons", Title: "Reasons", Tables: []report.Table{reasons}}}
	return p
}

// mostReasons bounds the table of decisions on a page.
const mostReasons = 2_000

// startPlots are the plots of random starts.
func startPlots(all []balanceStarts) []plot {
	deviation := chart.Chart{ID: "starts", Title: "Deviation of usage, by nodes of a start", XName: "nodes", YUnit: "points"}
	moves := chart.Chart{ID: "start-moves", Title: "Moves until rest, by nodes of a start", XName: "nodes", YUnit: "moves"}
	for i := range all {
		name := all[i].migrator.String()
		deviation.Series = append(deviation.Series, chart.Series{Name: name, Dots: byNodes(all[i].list, func(s *sim.Start) float64 { return s.After.Deviation })})
		moves.Series = append(moves.Series, chart.Series{Name: name, Dots: byNodes(all[i].list, func(s *sim.Start) float64 { return float64(s.Moves) })})
	}
	deviation.Series = append(deviation.Series, chart.Series{Name: "start", Dots: byNodes(all[0].list, func(s *sim.Start) float64 { return s.Before.Deviation })})
	return []plot{{"starts.svg", deviation}, {"start-moves.svg", moves}}
}

// byNodes draws the mean of a figure over starts of a number of nodes.
func byNodes(list []sim.Start, of func(*sim.Start) float64) (dots []chart.Dot) {
	sum, count := make(map[int]float64), make(map[int]float64)
	for i := range list {
		sum[list[i].Nodes] += of(&list[i])
		count[list[i].Nodes]++
	}
	for _, n := range slices.Sorted(maps.Keys(sum)) {
		dots = append(dots, chart.Dot{X: float64(n), Y: sum[n] / count[n]})
	}
	return dots
}

func startPage(all []balanceStarts) balancePage {
	p := balancePage{text: "Every start has a random number of nodes, each at a random usage. Moves are compared with the least possible number of them."}
	t := report.Table{Columns: []string{"migrator", "starts", "at rest", "rounds until rest", "moves", "least possible", "range before", "after", "deviation before", "after"}, Left: []int{0}}
	for i := range all {
		t.Rows = append(t.Rows, startCells(all[i].sum(0)))
	}
	s := report.Section{Key: "starts", Title: "Random starts", Tables: []report.Table{t}}
	for _, plot := range startPlots(all) {
		c := plot.chart
		s.Charts = append(s.Charts, &c)
	}
	p.sections = []report.Section{s}
	return p
}
