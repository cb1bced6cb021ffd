package evaluatepage

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"fednode/cmd/fednode/internal/chart"
	"fednode/testnet/evaluate"
)

//go:embed page.html
var source string

// Write writes the page of a document.
func Write(w io.Writer, d *evaluate.Document) error {
	t, err := template.New("page").Funcs(template.FuncMap{"grouped": grouped}).Parse(source)
	if err != nil {
		return err
	}
	return t.Execute(w, view(d))
}

// grouped writes how many there are, with commas.
func grouped(n int) string { return chart.Label(float64(n)) }

// pageView is what the template shows.
type pageView struct {
	*evaluate.Document
	Style       template.CSS
	Met         int
	Experiments []experimentView
	Broken      []string
}

type experimentView struct {
	*evaluate.Experiment
	Panels    []panelView
	PeakChart *peakView
}

type panelView struct {
	Title  string
	Legend template.HTML
	Charts []chartView
	// Lines are timelines with their names.
	Lines []chartView
	Rows  []rowView
	// Published: a cell has a figure of others.
	Published bool
}

type chartView struct {
	Title string
	SVG   template.HTML
}

// rowView is a cell in the table.
type rowView struct {
	*evaluate.Cell
	Equal bool
}

func view(d *evaluate.Document) *pageView {
	v := &pageView{Style: template.CSS(chart.Style()), Document: d, Broken: d.Broken()}
	for _, t := range d.Targets {
		if t.Met {
			v.Met++
		}
	}
	for _, x := range d.Experiments {
		e := experimentView{Experiment: x, PeakChart: peaksOf(x)}
		for i, p := range x.Panels {
			e.Panels = append(e.Panels, panelOf(x, p, fmt.Sprintf("%s-%d", x.Key, i)))
		}
		v.Experiments = append(v.Experiments, e)
	}
	return v
}

func panelOf(x *evaluate.Experiment, p *evaluate.Panel, id string) panelView {
	v := panelView{Title: p.Title}
	names := seriesOf(p)
	for k, m := range x.Charts {
		if c := chartOf(x, p, names, m); c != nil {
			c.ID = fmt.Sprintf("%s-%d", id, k)
			v.Charts = append(v.Charts, chartView{Title: m.Title(), SVG: template.HTML(c.SVG())})
		}
	}
	if len(v.Charts) > 0 && len(names) > 1 {
		v.Legend = template.HTML(chart.Legend(names))
	}
	for k, c := range p.Cells {
		v.Rows = append(v.Rows, rowView{Cell: c, Equal: c.Unequal == 0})
		v.Published = v.Published || c.Published != ""
		if len(c.Timeline) > 1 {
			title := fmt.Sprintf("How far the client is behind: %s, %s", c.Place(), c.Series)
			v.Lines = append(v.Lines, chartView{Title: title, SVG: template.HTML(timelineSVG(fmt.Sprintf("%s-t%d", id, k), title, c.Timeline))})
		}
	}
	return v
}

// seriesOf lists the series of a panel in the order of their first cells.
func seriesOf(p *evaluate.Panel) []string {
	var names []string
	for _, c := range p.Cells {
		if !slices.Contains(names, c.Series) {
			names = append(names, c.Series)
		}
	}
	return names
}

// logFrom is the ratio of the largest to the smallest place from which an axis is logarithmic.
const logFrom = 50

// chartOf draws a measure of a panel whose places are numbers; nil if they are not.
func chartOf(x *evaluate.Experiment, p *evaluate.Panel, names []string, m evaluate.Measure) *chart.Chart {
	c := &chart.Chart{Title: m.Title() + ", " + p.Title, XName: x.Axis, YUnit: m.Unit()}
	for _, n := range names {
		c.Series = append(c.Series, chart.Series{Name: n})
	}
	lo, hi := p.Cells[0].X, p.Cells[0].X
	for _, cell := range p.Cells {
		if cell.Label != "" {
			return nil
		}
		at := slices.Index(names, cell.Series)
		c.Series[at].Dots = append(c.Series[at].Dots, chart.Dot{X: cell.X, Y: m.Of(&cell.Figures)})
		lo, hi = min(lo, cell.X), max(hi, cell.X)
	}
	c.LogX = lo > 0 && hi/lo >= logFrom
	if m == evaluate.MeasureDelay {
		c.Bound, c.BoundName = boundOf(p, names[0]), "bound X"
	}
	return c
}

// boundOf returns the bound of the cells of a series, along the axis.
func boundOf(p *evaluate.Panel, name string) []chart.Dot {
	var list []chart.Dot
	for _, c := range p.Cells {
		if c.Series == name {
			list = append(list, chart.Dot{X: c.X, Y: c.Bound.Seconds()})
		}
	}
	return list
}
