package evaluate

import (
	"fmt"

	"fednode/query/tuple"
)

// Load of the loaded federation: three streams of 3,333 rows/s at 10 µs a row take a tenth of a node.
const (
	loadedRate    = 3333
	loadedRowCost = 5
)

// loaded has rows that take a tenth of each node.
func (g grid) loaded() *Experiment {
	e := &Experiment{
		Key: "loaded", Title: "A tenth of a node's capacity",
		Question: "How long does it take to correct what was missed when new rows take a tenth of each node?",
		Setup: fmt.Sprintf("%s %d rows/s a stream, and every row costs a node 10 µs: the share of a processor that 100,000 rows/s of 1 µs each would take. X = 3 s.",
			cutText, loadedRate),
		Axis: "failure, s", Charts: []Measure{MeasureDelay, MeasureCorrected},
	}
	p := &Panel{Title: "Two replicas, delay / process"}
	for n := 1; n <= 2; n++ {
		for _, s := range g.pick(5, 10, 15, 30, 60) {
			f := federation{fragments: n, replicas: 2, policies: delayProcess, rate: loadedRate, bound: bound}
			c := f.cell().cut(0, first(s*tuple.Second)).at(float64(s))
			c.Series, c.spec.RowCost = nodes(n), loadedRowCost
			p.Cells = append(p.Cells, c)
		}
	}
	e.Panels = []*Panel{p}
	return e
}

// rates shows what of the figures hangs on the rate.
func (g grid) rates() *Experiment {
	e := &Experiment{
		Key: "rate", Title: "The rate of the streams",
		Question: "Which figures depend on the rate?",
		Setup:    fmt.Sprintf("One node and a replica, X = 3 s. %s For 15 s.", cutText),
		Axis:     "rows/s a stream", Charts: []Measure{MeasureDelay, MeasureCorrected},
	}
	p := &Panel{Title: "A failure of 15 s"}
	for _, pair := range []policies{bothProcess, delayProcess} {
		for _, r := range g.pick(50, 150, 500, 1500, 5000) {
			f := federation{fragments: 1, replicas: 2, policies: pair, rate: r, bound: bound}
			p.Cells = append(p.Cells, f.cell().cut(0, first(15*tuple.Second)).at(float64(r)))
		}
	}
	e.Panels = []*Panel{p}
	return e
}

// calm has no failure at all.
func (g grid) calm() *Experiment {
	e := &Experiment{
		Key: "calm", Title: "Without failure",
		Question: "What do buckets and boundaries cost while nothing fails?",
		Setup: "Bucket and boundary interval 100 ms, two replicas of each node, links of 0.1 ms. The delay is all that lies between a row and its result: the poll of " +
			"its source, its log, boundary, bucket, and every hop.",
		Axis: "nodes", Charts: []Measure{MeasureNormal},
	}
	byDepth := &Panel{Title: "By the length of the chain"}
	for _, n := range g.pick(1, 2, 3, 4, 5, 6, 7, 8) {
		c := federation{fragments: int(n), replicas: 2, policies: delayProcess, rate: lowRate, bound: bound}.cell().at(float64(n))
		c.Series, c.spec.Latency, c.spec.Jitter = "50 rows/s a stream", 100, 50
		byDepth.Cells = append(byDepth.Cells, c)
	}
	byRate := &Panel{Title: "One node, by the rate of each stream"}
	for _, r := range g.pick(1000, 2000, 3000, 4000) {
		c := federation{fragments: 1, replicas: 2, policies: delayProcess, rate: r, bound: bound}.cell()
		c.Series, c.Label, c.spec.Latency, c.spec.Jitter = nodes(1), fmt.Sprintf("%d rows/s", r), 100, 50
		byRate.Cells = append(byRate.Cells, c)
	}
	e.Panels = []*Panel{byDepth, byRate}
	return e
}

// firstImplementation repeats the runs of which the first implementation's figures are known.
func (g grid) firstImplementation() *Experiment {
	e := &Experiment{
		Key: "published", Title: "Beside the first implementation",
		Question: "How do the longest delays compare with those that its authors published?",
		Setup: fmt.Sprintf("X = 2 s, %d rows/s a stream. %s The published figures are whole delays, so stand beside whole delays. They are of machines of their time, whose "+
			"processing is among them; ours are simulated.", rate, cutText),
		Axis: "setup",
	}
	p := &Panel{Title: "Longest delay with X = 2 s"}
	for _, c := range []struct {
		nodes, replicas int
		pair            policies
		seconds         int64
		published       string
	}{
		{1, 1, bothProcess, 6, "1.83 s"},
		{2, 2, bothProcess, 10, "2.22 s"},
		{2, 2, bothDelay, 10, "3.74 s"},
	} {
		f := federation{fragments: c.nodes, replicas: c.replicas, policies: c.pair, rate: rate, bound: 2 * tuple.Second}
		cell := f.cell().cut(0, first(c.seconds*tuple.Second))
		cell.Label, cell.Published = fmt.Sprintf("%s, %d s", nodes(c.nodes), c.seconds), c.published
		p.Cells = append(p.Cells, cell)
	}
	e.Panels = []*Panel{p}
	return e
}
