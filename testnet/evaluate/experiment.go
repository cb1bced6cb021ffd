package evaluate

import (
	"strconv"

	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// Experiment asks one question.
type Experiment struct {
	// Key names it, Title heads it, Question says what it is to show and Setup how.
	Key      string `json:"key"`
	Title    string `json:"title"`
	Question string `json:"question"`
	Setup    string `json:"setup"`
	// Axis says what differs within a series.
	Axis string `json:"axis"`
	// Charts are the measures that are drawn.
	Charts []Measure `json:"charts"`
	Panels []*Panel  `json:"panels"`
	// Rates are what came of rates of the sources on real daemons, Peaks the highest ones that were held, Notes what is to be said
	// about them.
	Rates []Rate   `json:"rates,omitempty"`
	Peaks []*Peak  `json:"highest_rates,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Panel is cells that are read side by side.
type Panel struct {
	Title string  `json:"title"`
	Cells []*Cell `json:"cells"`
}

// Cell is one federation with what fails in it, and what its runs showed.
type Cell struct {
	// Series is what stays the same along the axis, X the place on it; Label takes the place of X where it is no number.
	Series string  `json:"series"`
	X      float64 `json:"x"`
	Label  string  `json:"label,omitempty"`
	// Bound is X of the whole query.
	Bound Micros `json:"bound"`
	Figures
	// Published is a figure of others for the same, with what it is of.
	Published string `json:"published,omitempty"`
	// Timeline is how the client got on around the failure, where that is of interest.
	Timeline []Point `json:"timeline,omitempty"`

	spec   topology.Spec
	faults fault.Plan
	away   [][]span
	watch  bool // record the timeline
}

// Place names where on the axis a cell is.
func (c *Cell) Place() string {
	if c.Label != "" {
		return c.Label
	}
	return strconv.FormatFloat(c.X, 'g', -1, 64)
}

// Name names the cell within its experiment.
func (c *Cell) Name() string { return c.Series + ", " + c.Place() }

// Measure is one of the figures, as charts show it.
type Measure string

// The measures.
const (
	MeasureDelay     Measure = "delay"
	MeasureTentative Measure = "tentative"
	MeasureCorrected Measure = "corrected"
	MeasureNormal    Measure = "normal"
	MeasureGap       Measure = "gap"
	MeasureWorked    Measure = "worked"
)

// Title heads a chart of the measure; Unit is what its values are in.
func (m Measure) Title() string {
	return map[Measure]string{
		MeasureDelay: "Longest incremental delay of new rows", MeasureTentative: "Tentative rows at the client",
		MeasureCorrected: "Time from healing until all is corrected", MeasureNormal: "Delay without failure, 99th percentile",
		MeasureGap: "Longest time without new results", MeasureWorked: "Processor time of all replicas",
	}[m]
}

// Unit is what the values of the measure are in.
func (m Measure) Unit() string {
	if m == MeasureTentative {
		return "rows"
	}
	return "s"
}

// Of returns the measure of some figures.
func (m Measure) Of(f *Figures) float64 {
	switch m {
	case MeasureDelay:
		return f.Incremental.Seconds()
	case MeasureTentative:
		return float64(f.Tentative)
	case MeasureCorrected:
		return f.Corrected.Seconds()
	case MeasureNormal:
		return f.Normal99.Seconds()
	case MeasureWorked:
		return f.Worked.Seconds()
	}
	return f.Gap.Seconds()
}

// cells returns all cells of an experiment.
func (e *Experiment) cells() []*Cell {
	var list []*Cell
	for _, p := range e.Panels {
		list = append(list, p.Cells...)
	}
	return list
}
