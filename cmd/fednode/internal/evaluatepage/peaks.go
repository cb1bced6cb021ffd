package evaluatepage

import (
	"html/template"
	"slices"

	"fednode/cmd/fednode/internal/chart"
	"fednode/testnet/evaluate"
)

// peakView is the chart of the highest rates that were held.
type peakView struct {
	Legend template.HTML
	chartView
}

// peaksOf draws the highest rates of an experiment by the length of the chain; nil if there are none.
func peaksOf(x *evaluate.Experiment) *peakView {
	c := &chart.Chart{ID: x.Key + "-rates", Title: "Highest rate held, rows/s a stream", XName: "nodes in the chain", YUnit: "rows/s"}
	var names []string
	for _, p := range x.Peaks {
		r := p.Of()
		name := "without replicas"
		if r.Replicas > 1 {
			name = "with two replicas"
		}
		at := slices.Index(names, name)
		if at < 0 {
			at = len(names)
			names = append(names, name)
			c.Series = append(c.Series, chart.Series{Name: name})
		}
		dot := chart.Dot{X: float64(r.Nodes)}
		if p.Best != nil {
			dot.Y = float64(p.Best.Asked)
		}
		c.Series[at].Dots = append(c.Series[at].Dots, dot)
	}
	if len(names) == 0 {
		return nil
	}
	for i := range c.Series {
		slices.SortFunc(c.Series[i].Dots, func(a, b chart.Dot) int { return int(a.X - b.X) })
	}
	return &peakView{template.HTML(chart.Legend(names)), chartView{Title: c.Title, SVG: template.HTML(c.SVG())}}
}
