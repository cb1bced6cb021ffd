package evaluate

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// bestEffort compares a query that corrects nothing with one that does.
func (g grid) bestEffort() *Experiment {
	e := &Experiment{
		Key: "best-effort", Title: "Correcting what was tentative, or going on without",
		Question: "What do corrections cost, by the length of the failure: how long after it results are stable again, and what work?",
		Setup: fmt.Sprintf("%s %d rows/s a stream, X = 3 s; a row costs a node 10 µs, half of it when it comes in and half when it is given. The operators of the "+
			"query depend on nothing before.", cutText, rate),
		Axis: "failure, s", Charts: []Measure{MeasureTentative, MeasureCorrected, MeasureWorked},
	}
	for _, f := range []federation{{fragments: 1, replicas: 1}, {fragments: 1, replicas: 2}, {fragments: 2, replicas: 2}} {
		title := aloneOrNot(f.replicas)
		if f.fragments > 1 {
			title = nodes(f.fragments) + " with two replicas each"
		}
		p := &Panel{Title: title}
		for _, consistency := range []string{topology.Eventual, topology.BestEffort} {
			for _, s := range g.pick(5, 15, 30, 60) {
				p.Cells = append(p.Cells, f.bestEffortCell(consistency, s))
			}
		}
		e.Panels = append(e.Panels, p)
	}
	return e
}

// bestEffortCell is a failure of some seconds of a query that promises so much.
func (f federation) bestEffortCell(consistency string, seconds int64) *Cell {
	f.policies, f.rate, f.bound = delayProcess, rate, bound
	c := f.cell().cut(0, first(seconds*tuple.Second)).at(float64(seconds))
	c.Series, c.spec.Consistency, c.spec.RowCost = consistency, consistency, loadedRowCost
	return c
}
