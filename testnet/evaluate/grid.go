package evaluate

import (
	"fmt"

	"fednode/query/tuple"
)

// Grid returns all experiments in the simulator; quick ones have fewer lengths and rates.
func Grid(quick bool) []*Experiment {
	g := grid{quick: quick}
	return []*Experiment{
		g.oneNode(), g.boundValue(), g.chain(), g.depth(), g.overlap(), g.replicaLost(), g.boundaryBack(), g.linkBack(), g.loaded(),
		g.rates(), g.undoRedo(), g.bestEffort(), g.calm(), g.firstImplementation(),
	}
}

type grid struct{ quick bool }

// pick returns values, of which quick leaves every other.
func (g grid) pick(values ...int64) []int64 {
	if !g.quick {
		return values
	}
	var list []int64
	for i := 0; i < len(values); i += 2 {
		list = append(list, values[i])
	}
	return list
}

// fourPairs are the policy pairs in the order of the tables.
func fourPairs() []policies { return []policies{bothProcess, processDelay, delayProcess, bothDelay} }

const cutText = "One of three streams is cut off from the replicas that read it while its source goes on; its log sends what was missed afterwards."

func (g grid) oneNode() *Experiment {
	e := &Experiment{
		Key: "one-node", Title: "One node, failures of 2 to 60 s",
		Question: "What does a failure cost, by its length and the query's policies?",
		Setup:    fmt.Sprintf("%s X = 3 s, %d rows/s a stream.", cutText, rate),
		Axis:     "failure, s", Charts: []Measure{MeasureDelay, MeasureTentative, MeasureCorrected},
	}
	for replicas := 1; replicas <= 2; replicas++ {
		p := &Panel{Title: aloneOrNot(replicas)}
		for _, pair := range fourPairs() {
			for _, s := range g.pick(2, 3, 4, 6, 8, 10, 12, 14, 15, 30, 45, 60) {
				f := federation{fragments: 1, replicas: replicas, policies: pair, rate: rate, bound: bound}
				p.Cells = append(p.Cells, f.cell().cut(0, first(s*tuple.Second)).at(float64(s)))
			}
		}
		e.Panels = append(e.Panels, p)
	}
	return e
}

// aloneOrNot names a node by how many replicas there are of its fragment.
func aloneOrNot(replicas int) string {
	if replicas == 1 {
		return "One node alone"
	}
	return "One node and a replica of it"
}

func (g grid) boundValue() *Experiment {
	e := &Experiment{
		Key: "bound", Title: "What a longer bound buys",
		Question: "How many tentative rows does a failure of 5 s leave, by the bound X?",
		Setup:    fmt.Sprintf("One node and a replica. %s %d rows/s a stream.", cutText, rate),
		Axis:     "bound X, s", Charts: []Measure{MeasureDelay, MeasureTentative},
	}
	p := &Panel{Title: "A failure of 5 s"}
	for _, pair := range fourPairs() {
		for _, halves := range g.pick(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) {
			x := halves * tuple.Second / 2
			f := federation{fragments: 1, replicas: 2, policies: pair, rate: rate, bound: x}
			p.Cells = append(p.Cells, f.cell().cut(0, first(5*tuple.Second)).at(float64(x)/1e6))
		}
	}
	e.Panels = []*Panel{p}
	return e
}

func (g grid) chain() *Experiment {
	e := &Experiment{
		Key: "chain", Title: "Chains of one to four nodes with two replicas each",
		Question: "Is it better to hold at the first node for nearly all of X, or at each for its share?",
		Setup: fmt.Sprintf("%s %d rows/s a stream, X = 3 s for the whole chain: given whole to each node, as the planner does, or, for comparison, "+
			"split evenly among them.", cutText, rate),
		Axis: "failure, s", Charts: []Measure{MeasureDelay, MeasureTentative, MeasureCorrected},
	}
	for _, pair := range []policies{bothProcess, bothDelay} {
		for _, share := range []string{"whole", "split evenly"} {
			p := &Panel{Title: fmt.Sprintf("%s, X %s", pair, share)}
			for n := 1; n <= 4; n++ {
				x := bound
				if share != "whole" {
					x /= int64(n)
				}
				for _, s := range g.pick(5, 10, 15, 30, 60) {
					f := federation{fragments: n, replicas: 2, policies: pair, rate: rate, bound: x}
					c := f.cell().cut(0, first(s*tuple.Second)).at(float64(s))
					c.Series, c.Bound = nodes(n), Micros(bound)
					p.Cells = append(p.Cells, c)
				}
			}
			e.Panels = append(e.Panels, p)
		}
	}
	return e
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// depth is the experiment by which page 8 of the design judges chains.
func (g grid) depth() *Experiment {
	e := &Experiment{
		Key: "depth", Title: "Chains of one to eight nodes, a source away for 15 s",
		Question: "Does the bound hold end to end, however long the chain?",
		Setup: fmt.Sprintf("The connector of one of three sources is disconnected for 15 s, so that 1,500 rows of the healthy ones enter meanwhile "+
			"(%d rows/s a stream). Two replicas of each node, X = 3 s.", lowRate),
		Axis: "nodes", Charts: []Measure{MeasureDelay, MeasureTentative, MeasureCorrected},
	}
	p := &Panel{Title: "A source away for 15 s"}
	for _, pair := range []policies{bothProcess, delayProcess, bothDelay} {
		for _, n := range g.pick(1, 2, 3, 4, 5, 6, 7, 8) {
			f := federation{fragments: int(n), replicas: 2, policies: pair, rate: lowRate, bound: bound}
			p.Cells = append(p.Cells, f.cell().off(0, first(15*tuple.Second)).at(float64(n)))
		}
	}
	e.Panels = []*Panel{p}
	return e
}
