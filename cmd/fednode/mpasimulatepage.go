package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fednode/cmd/fednode/internal/chart"
	"fednode/cmd/fednode/internal/report"
	"fednode/mpa/sim"
)

// writeMPAPage writes the page of some runs.
func writeMPAPage(c *cobra.Command, path string, done []mpaDone) error {
	r := &report.Report{
		Title: "How load moves along contracts", Command: commandLine(c), Version: readVersion(debug.ReadBuildInfo()).Version, Made: time.Now().UTC().Format(time.RFC3339),
		Text: "Excess is load above the level at which its holder would rather give it away, as a share of all load. An end is acceptable if nobody is overloaded, or nobody has room.",
	}
	if s := arrangementSection(done); s != nil {
		r.Sections = append(r.Sections, *s)
	}
	if len(done) > 1 {
		r.Sections = append(r.Sections, mpaCurves(done)...)
	}
	r.Sections = append(r.Sections, mpaOverTime(done), mpaTableSection(done))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(report.Write(f, r), f.Close())
}

// commandLine is the command as it was given, for people who want to repeat it.
func commandLine(c *cobra.Command) string {
	parts := []string{c.CommandPath()}
	c.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Name == "html":
		case f.Value.Type() == "bool": // a value behind a space would be an argument
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("--%s=%s", f.Name, f.Value), "=true"))
		default:
			parts = append(parts, fmt.Sprintf("--%s %s", f.Name, flagText(f.Value.String())))
		}
	})
	return strings.Join(parts, " ")
}

// flagText is a flag's value as people write it: 0.8,0.95, not [0.800000,0.950000].
func flagText(value string) string {
	list := strings.Split(strings.Trim(value, "[]"), ",")
	for i, text := range list {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			list[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return strings.Join(list, ",")
}

// mpaCurves draws excess over the number of contracts and over load, one line for each price range.
func mpaCurves(done []mpaDone) (sections []report.Section) {
	graphs := distinctRuns(done, func(d *mpaDone) string { return d.graph })
	for i, graph := range graphs {
		var of []mpaDone
		for _, d := range done {
			if d.graph == graph {
				of = append(of, d)
			}
		}
		s := report.Section{Key: fmt.Sprintf("graph-%d", i), Title: "Excess by contracts and load: " + graph,
			Text: "What is left above the level at the end; the mean, if there are several seeds."}
		contracts, loads := distinctRuns(of, func(d *mpaDone) float64 { return float64(d.cfg.Contracts) }), distinctRuns(of, func(d *mpaDone) float64 { return d.cfg.Load })
		if len(contracts) > 1 {
			for _, load := range loads {
				s.Charts = append(s.Charts, mpaCurve(of, fmt.Sprintf("Load %g %% of capacity", 100*load), "contracts of each node", true,
					func(d *mpaDone) bool { return d.cfg.Load == load }, func(d *mpaDone) float64 { return float64(d.cfg.Contracts) }))
			}
		}
		if len(loads) > 1 {
			for _, n := range contracts {
				s.Charts = append(s.Charts, mpaCurve(of, fmt.Sprintf("Contracts of each node: %g", n), "load, % of capacity", false,
					func(d *mpaDone) bool { return float64(d.cfg.Contracts) == n }, func(d *mpaDone) float64 { return 100 * d.cfg.Load }))
			}
		}
		if len(s.Charts) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// mpaCurve draws the final excess of those runs that count, over x, one line for each price range.
func mpaCurve(done []mpaDone, title, xName string, logX bool, counts func(*mpaDone) bool, x func(*mpaDone) float64) *chart.Chart {
	c := &chart.Chart{Title: title, XName: xName, YUnit: "excess, % of load", LogX: logX, TightX: true}
	for _, width := range distinctRuns(done, func(d *mpaDone) float64 { return d.cfg.Range }) {
		sum, n := make(map[float64]float64), make(map[float64]float64)
		for i := range done {
			if d := &done[i]; counts(d) && d.cfg.Range == width {
				sum[x(d)] += 100 * d.Final.Excess
				n[x(d)]++
			}
		}
		line := chart.Series{Name: rangeName(width)}
		for at := range sum {
			line.Dots = append(line.Dots, chart.Dot{X: at, Y: sum[at] / n[at]})
		}
		slices.SortFunc(line.Dots, func(a, b chart.Dot) int { return int(math.Copysign(1, a.X-b.X)) })
		c.Series = append(c.Series, line)
	}
	return c
}

func rangeName(width float64) string {
	if width == 0 {
		return "fixed price"
	}
	return fmt.Sprintf("range %g %%", 100*width)
}

// distinctRuns lists the values that runs have, in the order in which they come.
func distinctRuns[T comparable](done []mpaDone, of func(*mpaDone) T) (list []T) {
	for i := range done {
		if v := of(&done[i]); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// mostLines is how many runs are drawn over time.
const mostLines = 5

// mpaOverTime draws the first runs over time.
func mpaOverTime(done []mpaDone) report.Section {
	s := report.Section{Key: "time", Title: "Over time"}
	if len(done) > mostLines {
		s.Text = fmt.Sprintf("The first %d of %d runs.", mostLines, len(done))
		done = done[:mostLines]
	}
	for _, m := range []struct {
		title, unit string
		tight       bool
		of          func(sim.Sample) float64
	}{
		{"Excess", "% of load", false, func(p sim.Sample) float64 { return 100 * p.Excess }},
		{"Overloaded nodes", "nodes", false, func(p sim.Sample) float64 { return float64(p.Overloaded) }},
		{"Moves so far", "moves", false, func(p sim.Sample) float64 { return float64(p.Moves) }},
		{"Mean price paid so far", "% of the highest", true, func(p sim.Sample) float64 { return 100 * p.Price }},
	} {
		c := &chart.Chart{Title: m.title, XName: "time, s", YUnit: m.unit, Wide: true, Exact: true, Tight: m.tight}
		for i := range done {
			line := chart.Series{Name: done[i].name()}
			for _, p := range done[i].Samples {
				if m.tight && p.Price == 0 {
					continue // nothing has moved
				}
				line.Dots = append(line.Dots, chart.Dot{X: inSeconds(p.At), Y: m.of(p)})
			}
			c.Series = append(c.Series, line)
		}
		s.Charts = append(s.Charts, c)
	}
	return s
}

func (d *mpaDone) name() string {
	return fmt.Sprintf("%s, c = %d, load %g %%, %s, seed %d", d.graph, d.cfg.Contracts, 100*d.cfg.Load, rangeName(d.cfg.Range), d.Seed)
}

func mpaTableSection(done []mpaDone) report.Section {
	t := report.Table{Columns: []string{"graph", "contracts", "load", "range", "seed", "excess before", "after", "overloaded", "moves", "returns", "messages", "last move, s", "social cost before", "after", "least possible", "acceptable"}, Left: []int{0, 15}}
	for i := range done {
		d := &done[i]
		acceptable := "no"
		if d.Acceptable {
			acceptable = "yes"
		}
		t.Rows = append(t.Rows, []string{d.graph, fmt.Sprint(d.cfg.Contracts), fmt.Sprintf("%g %%", 100*d.cfg.Load), fmt.Sprintf("%g %%", 100*d.cfg.Range), fmt.Sprint(d.Seed),
			fmt.Sprintf("%.2f %%", 100*d.Initial.Excess), fmt.Sprintf("%.3f %%", 100*d.Final.Excess), fmt.Sprint(d.Final.Overloaded), grouped(uint64(d.Moves)), grouped(uint64(d.Returns)),
			grouped(uint64(d.Messages)), fmt.Sprintf("%.1f", inSeconds(d.LastMove)), chart.Short(d.Social.Initial), chart.Short(d.Social.Final), chart.Short(d.Social.Optimum), acceptable})
	}
	return report.Section{Key: "runs", Title: "All runs", Tables: []report.Table{t}}
}
