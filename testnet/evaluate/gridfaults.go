package evaluate

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
)

// overlap lets a second stream fail while the first is away, and while what the first missed is being corrected.
func (g grid) overlap() *Experiment {
	e := &Experiment{
		Key: "overlap", Title: "Failures that overlap",
		Question: "What if another stream fails during a failure, or during the recovery from one?",
		Setup: fmt.Sprintf("One stream is cut off for 6 s, another from 2 s after its beginning for 8 s (during the failure), or from the moment "+
			"it heals for 4 s (during recovery). X = 3 s, %d rows/s a stream.", rate),
		Axis: "when",
	}
	for replicas := 1; replicas <= 2; replicas++ {
		p := &Panel{Title: aloneOrNot(replicas)}
		for _, pair := range fourPairs() {
			f := federation{fragments: 1, replicas: replicas, policies: pair, rate: rate, bound: bound}
			s := tuple.Second
			during := f.cell().cut(0, span{begins, begins + 6*s}).cut(1, span{begins + 2*s, begins + 10*s})
			after := f.cell().cut(0, span{begins, begins + 6*s}).cut(1, span{begins + 6*s, begins + 10*s})
			during.Label, after.Label = "6–12 s and 8–16 s", "6–12 s and 12–16 s"
			during.watch, after.watch = pair == delayProcess && replicas == 2, pair == delayProcess && replicas == 2
			p.Cells = append(p.Cells, during, after)
		}
		e.Panels = append(e.Panels, p)
	}
	return e
}

// replicaLost takes away the replica that is read, or the one that is not.
func (g grid) replicaLost() *Experiment {
	e := &Experiment{
		Key: "switch", Title: "A replica goes, another takes over",
		Question: "How long is the pause in results when a replica dies, and does any become tentative?",
		Setup:    fmt.Sprintf("Chains with two replicas; one replica is gone for 20 s, then starts again. X = 3 s, %d rows/s a stream.", rate),
		Axis:     "which", Charts: nil,
	}
	for _, how := range []struct {
		title string
		kind  fault.Kind
	}{{"Its process is killed: connections are reset", fault.Crash}, {"Its machine falls silent", fault.Off}} {
		p := &Panel{Title: how.title}
		for _, n := range []int{1, 2, 4} {
			for at := 1; at <= n; at++ {
				for r := range 2 {
					f := federation{fragments: n, replicas: 2, policies: delayProcess, rate: rate, bound: bound}
					node := fmt.Sprintf("f%d.%d", at, r)
					c := f.cell().fails(how.kind, node, "", first(20*tuple.Second))
					c.Series, c.Label = nodes(n), node
					p.Cells = append(p.Cells, c)
				}
			}
		}
		e.Panels = append(e.Panels, p)
	}
	return e
}

// holdTime is H of the first SUnion of a chain: see the hold times of package dcaa.
func holdTime(fragments int64) int64 {
	const grace, reserve, interval = 20 * tuple.Millisecond, 400 * tuple.Millisecond, 100 * tuple.Millisecond
	return bound - interval - (fragments+2)*grace - reserve
}

// boundaryBack lets the missing boundaries come back just within the hold time.
func (g grid) boundaryBack() *Experiment {
	e := &Experiment{
		Key: "within-hold", Title: "Boundaries that are back within the hold time",
		Question: "Does a failure that is over in time leave any tentative row?",
		Setup: fmt.Sprintf("The connector of one source is disconnected for 0.25 s less than the hold time of its chain: the time until the first poll and the next "+
			"boundary. X = 3 s, %d rows/s a stream.", lowRate),
		Axis: "nodes",
	}
	p := &Panel{Title: "Back in time"}
	for _, pair := range []policies{bothProcess, delayProcess} {
		for _, n := range g.pick(1, 2, 3, 4, 5, 6, 7, 8) {
			f := federation{fragments: int(n), replicas: 2, policies: pair, rate: lowRate, bound: bound}
			p.Cells = append(p.Cells, f.cell().off(0, first(holdTime(n)-250*tuple.Millisecond)).at(float64(n)))
		}
	}
	e.Panels = []*Panel{p}
	return e
}

// linkBack cuts links and restores them within 0.75 X - 0.3 s.
func (g grid) linkBack() *Experiment {
	e := &Experiment{
		Key: "link-back", Title: "A link that is cut and restored in time",
		Question: "Does a cut of 0.75 X − 0.3 s leave any tentative row?",
		Setup:    fmt.Sprintf("X = 3 s, so the cut is of 1.95 s. Two replicas of each node, %d rows/s a stream.", lowRate),
		Axis:     "nodes",
	}
	const length = bound*3/4 - 300*tuple.Millisecond
	ends := []*Panel{{Title: "From one source to the first node"}, {Title: "From the last node to the client"}}
	for _, n := range g.pick(1, 2, 3, 4, 5, 6, 7, 8) {
		f := federation{fragments: int(n), replicas: 2, policies: delayProcess, rate: lowRate, bound: bound}
		ends[0].Cells = append(ends[0].Cells, f.cell().cut(0, first(length)).at(float64(n)))
		last := f.cell().at(float64(n))
		for r := range 2 {
			last.fails(fault.Cut, fmt.Sprintf("f%d.%d", n, r), "client", first(length))
		}
		for s := range last.spec.Sources {
			last.without(s, first(length))
		}
		ends[1].Cells = append(ends[1].Cells, last)
	}
	e.Panels = ends
	return e
}
