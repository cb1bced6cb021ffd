package evaluate

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// undoRedo compares the two ways to redo.
func (g grid) undoRedo() *Experiment {
	e := &Experiment{
		Key: "undo-redo", Title: "Keeping the tentative state for the redo, or undoing it",
		Question: "What does a fork that goes on while the redo runs buy, by the rate and by what has to be redone?",
		Setup: fmt.Sprintf("%s One node, alone or with a replica, and chains; a row costs it 10 µs, as where a tenth of a node is used. X = 3 s. With fork new rows are given "+
			"tentatively while the redo runs; with undo they wait for it, as long as they may be held.", cutText),
		Axis: "rows/s a stream", Charts: []Measure{MeasureDelay, MeasureTentative, MeasureCorrected},
	}
	for replicas := 1; replicas <= 2; replicas++ {
		p := &Panel{Title: aloneOrNot(replicas) + ", a failure of 15 s"}
		for _, redo := range []string{topology.RedoFork, topology.RedoUndo} {
			for _, r := range g.pick(50, 150, 500, 1500, 3333) {
				p.Cells = append(p.Cells, redoCell(redo, replicas, r, 15).at(float64(r)))
			}
		}
		e.Panels = append(e.Panels, p)
	}
	p := &Panel{Title: fmt.Sprintf("One node alone, %d rows/s: by the length of the failure in s", loadedRate)}
	for _, redo := range []string{topology.RedoFork, topology.RedoUndo} {
		for _, s := range g.pick(3, 5, 10, 15, 20) {
			p.Cells = append(p.Cells, redoCell(redo, 1, loadedRate, s).at(float64(s)))
		}
	}
	e.Panels = append(e.Panels, p)
	p = &Panel{Title: fmt.Sprintf("Chains without replicas, %d rows/s, a failure of 15 s: by the number of nodes", loadedRate)}
	for _, redo := range []string{topology.RedoFork, topology.RedoUndo} {
		for _, n := range g.pick(1, 2, 3, 4, 6) {
			c := redoCell(redo, 1, loadedRate, 15).at(float64(n))
			c.spec.Fragments = int(n)
			p.Cells = append(p.Cells, c)
		}
	}
	e.Panels = append(e.Panels, p)
	return e
}

// redoCell is a failure of some seconds, after which a node redoes in one of the two ways.
func redoCell(redo string, replicas int, rate, seconds int64) *Cell {
	f := federation{fragments: 1, replicas: replicas, policies: delayProcess, rate: rate, bound: bound}
	c := f.cell().cut(0, first(seconds*tuple.Second))
	c.Series, c.spec.RowCost, c.spec.Redo = redo, loadedRowCost, redo
	return c
}
