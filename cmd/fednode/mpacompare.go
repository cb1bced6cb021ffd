package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/chart"
	"fednode/cmd/fednode/internal/report"
	"fednode/mpa/sim"
)

// arrangement is the JSON of what one arrangement comes to on the loads of a run.
type arrangement struct {
	Name       string  `json:"name"`
	Overloaded int     `json:"overloaded"`
	Excess     float64 `json:"excess"`
	Social     float64 `json:"social_cost"`
	// SetAside is a share of every node's level, Idle the part of it that nobody used; of reserved capacity.
	SetAside *float64 `json:"set_aside,omitempty"`
	Idle     *float64 `json:"idle,omitempty"`
}

// arrangements lists what a run was compared with; nothing if it was not.
func (d *mpaDone) arrangements() []arrangement {
	c := d.comparison
	if c == nil {
		return nil
	}
	of := func(name string, o sim.Outcome) arrangement {
		return arrangement{Name: name, Overloaded: o.Overloaded, Excess: o.Excess, Social: o.Social}
	}
	reserved := of("reserved", c.Reserved)
	reserved.SetAside, reserved.Idle = &c.SetAside, &c.Idle
	return []arrangement{of("alone", c.Alone), reserved, of("contracts", c.Contracts)}
}

func arrangementHead() []string {
	return []string{"graph", "contracts", "load", "range", "seed", "arrangement", "overloaded", "excess", "social cost", "set aside", "of it idle"}
}

// arrangementRows are the rows of a comparison, for people.
func arrangementRows(done []mpaDone) (rows [][]string) {
	for i := range done {
		d := &done[i]
		for _, a := range d.arrangements() {
			row := []string{d.graph, fmt.Sprint(d.cfg.Contracts), fmt.Sprintf("%g %%", 100*d.cfg.Load), fmt.Sprintf("%g %%", 100*d.cfg.Range), fmt.Sprint(d.Seed),
				a.Name, grouped(uint64(a.Overloaded)), fmt.Sprintf("%.3f %%", 100*a.Excess), chart.Short(a.Social), "", ""}
			if a.SetAside != nil {
				row[9], row[10] = fmt.Sprintf("%.1f %%", 100**a.SetAside), fmt.Sprintf("%.1f %%", 100**a.Idle)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// showArrangements prints a comparison as a table.
func showArrangements(c *cobra.Command, done []mpaDone) {
	t := &table{head: arrangementHead()}
	for _, row := range arrangementRows(done) {
		t.add(plainCells(row...)...)
	}
	t.alignRight(1, 2, 3, 4, 6, 7, 8, 9, 10)
	t.print(c.OutOrStdout())
}

// arrangementSection is the part of the page that compares; nil if nothing was compared.
func arrangementSection(done []mpaDone) *report.Section {
	rows := arrangementRows(done)
	if len(rows) == 0 {
		return nil
	}
	s := &report.Section{Key: "arrangements", Title: "Alone, reserved capacity, contracts",
		Text:   "Three arrangements on the same loads. Reserved: each node guarantees its partners a share of its level in equal parts, the best share for just these loads, and uses it until they claim it; nothing is passed on.",
		Tables: []report.Table{{Columns: arrangementHead(), Left: []int{0, 5}, Rows: rows}}}
	for _, c := range arrangementCharts(done) {
		s.Charts = append(s.Charts, &c.chart)
	}
	return s
}

// arrangementCharts draw excess by load, a chart for each number of contracts, at the widest price range.
func arrangementCharts(done []mpaDone) (plots []plot) {
	widest := 0.0
	for i := range done {
		widest = max(widest, done[i].cfg.Range)
	}
	for _, n := range distinctRuns(done, func(d *mpaDone) int { return d.cfg.Contracts }) {
		lines := map[string]*chart.Series{}
		var names []string
		for i := range done {
			d := &done[i]
			if d.cfg.Contracts != n || d.cfg.Range != widest || d.Seed != done[0].Seed || d.graph != done[0].graph {
				continue
			}
			for _, a := range d.arrangements() {
				if lines[a.Name] == nil {
					lines[a.Name] = &chart.Series{Name: a.Name}
					names = append(names, a.Name)
				}
				lines[a.Name].Dots = append(lines[a.Name].Dots, chart.Dot{X: 100 * d.cfg.Load, Y: 100 * a.Excess})
			}
		}
		c := chart.Chart{Title: fmt.Sprintf("Excess by arrangement, %d contracts each", n), XName: "load, % of capacity", YUnit: "excess, % of load", TightX: true}
		for _, name := range names {
			c.Series = append(c.Series, *lines[name])
		}
		if len(names) > 0 && len(lines[names[0]].Dots) > 1 {
			plots = append(plots, plot{fmt.Sprintf("arrangements-%d.svg", n), c})
		}
	}
	return plots
}

// mpaPlots are the charts of mpa simulate: excess by contracts and by load, and the comparison if there was one.
func mpaPlots(done []mpaDone) []plot {
	plots := arrangementCharts(done)
	if len(done) < 2 {
		return plots
	}
	for _, section := range mpaCurves(done) {
		_, graph, _ := strings.Cut(section.Title, ": ")
		for _, c := range section.Charts {
			one := *c
			one.ID, one.Title = fileName(graph+" "+c.Title), "Excess, "+strings.ToLower(c.Title[:1])+c.Title[1:]
			plots = append(plots, plot{one.ID + ".svg", one})
		}
	}
	return plots
}

// fileName makes a name of a file from a title: letters and digits in words, with - between.
func fileName(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), "-")
}
