package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/chart"
	"fednode/mpa/sim"
)

// adviceCount is the JSON of a number of contracts. Loads are in units of full speed, money in what a unit of load costs at
// the highest price.
type adviceCount struct {
	Contracts   int     `json:"contracts"`
	Probability float64 `json:"overload_probability"`
	Overload    float64 `json:"expected_overload"`
	Cost        float64 `json:"cost"`
	Worth       float64 `json:"worth"`
	Error       float64 `json:"worth_stderr"`
	Pays        bool    `json:"pays"`
}

// showAdvice prints what contracts are worth.
func showAdvice(c *cobra.Command, q sim.Question, a *sim.Advice) error {
	if jsonWanted(c) {
		list := make([]adviceCount, len(a.Counts))
		for i, n := range a.Counts {
			list[i] = adviceCount{n.Contracts, n.Probability, n.Overload, n.Cost, n.Worth, n.Error, n.Contracts > 0 && n.Contracts <= a.Best}
		}
		return printJSON(c, map[string]any{"best": a.Best, "upkeep": q.Upkeep, "counts": list, "price_range_for_relays": a.Ranges,
			"price_range": q.Run.Range, "participants": q.Run.Nodes, "moments": q.Moments, "seed": q.Run.Seed})
	}
	t := &table{head: []string{"CONTRACTS", "OVERLOADED", "BY", "COST", "WORTH OF THIS ONE", "± STDERR"}}
	for _, n := range a.Counts {
		row := plainCells(fmt.Sprint(n.Contracts), fmt.Sprintf("%.2f %%", 100*n.Probability), fmt.Sprintf("%.4f", n.Overload), fmt.Sprintf("%.4f", n.Cost))
		worth, wrong := cell{text: fmt.Sprintf("%+.4f", n.Worth), tone: toneGood}, cell{text: fmt.Sprintf("%.4f", n.Error), tone: toneDim}
		switch {
		case n.Contracts == 0:
			worth, wrong = cell{}, cell{}
		case n.Contracts > a.Best:
			worth.tone = toneWarn
		}
		t.add(append(row, worth, wrong)...)
	}
	t.alignRight(0, 1, 2, 3, 4, 5)
	t.print(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "\n%s\n", adviceText(q, a))
	fmt.Fprintf(c.OutOrStdout(), "For load to pass over full partners, the price range has to span, of the highest price: %s.\n", relayText(a.Ranges))
	return nil
}

// adviceText says how many contracts are worth their upkeep.
func adviceText(q sim.Question, a *sim.Advice) string {
	switch last := a.Counts[len(a.Counts)-1].Contracts; {
	case a.Best == 0:
		return fmt.Sprintf("No contract is worth an upkeep of %g.", q.Upkeep)
	case a.Best == last:
		return fmt.Sprintf("All of %s are worth an upkeep of %g each; look at more with --most.", plural(last, "contract"), q.Upkeep)
	}
	return fmt.Sprintf("%s worth an upkeep of %g each; of the next one that cannot be said.", map[bool]string{true: "1 contract is", false: fmt.Sprintf("%d contracts are", a.Best)}[a.Best == 1], q.Upkeep)
}

// relayText lists the ranges for relays in a row.
func relayText(ranges []float64) string {
	text := ""
	for i, r := range ranges {
		switch {
		case i > 0 && i == len(ranges)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		if r > 1 {
			text += fmt.Sprintf("no range is enough for %d", i+1)
			continue
		}
		text += fmt.Sprintf("%.1f %% for %s", 100*r, plural(i+1, "relay"))
	}
	return text
}

// advicePlots are the charts of contract advise.
func advicePlots(a *sim.Advice, upkeep float64) []plot {
	probability, overload := chart.Series{Name: "probability of being overloaded, %"}, chart.Series{Name: "expected overload, % of full speed"}
	cost, both := chart.Series{Name: "cost of load"}, chart.Series{Name: "with upkeep"}
	for _, n := range a.Counts {
		x := float64(n.Contracts)
		probability.Dots = append(probability.Dots, chart.Dot{X: x, Y: 100 * n.Probability})
		overload.Dots = append(overload.Dots, chart.Dot{X: x, Y: 100 * n.Overload})
		cost.Dots = append(cost.Dots, chart.Dot{X: x, Y: n.Cost})
		both.Dots = append(both.Dots, chart.Dot{X: x, Y: n.Cost + x*upkeep})
	}
	return []plot{
		{"overload.svg", chart.Chart{ID: "overload", Title: "Overload by contracts", XName: "contracts", YUnit: "%", Series: []chart.Series{probability, overload}, Exact: true}},
		{"cost.svg", chart.Chart{ID: "cost", Title: "Cost by contracts", XName: "contracts", YUnit: "in load at the highest price", LogY: true,
			Series: []chart.Series{cost, both}, Exact: true, Summary: fmt.Sprintf("least with upkeep at %d contracts", a.Best)}},
	}
}
