package evaluatepage

import (
	"fmt"

	"fednode/cmd/fednode/internal/chart"
	"fednode/query/tuple"
	"fednode/testnet/evaluate"
)

// timelineSVG draws how far behind a client was, moment by moment: stable results, and what it had with tentative ones.
func timelineSVG(id, title string, points []evaluate.Point) string {
	begin := points[0].At
	stable, reached := points[0].Reached, points[0].Reached
	var steady, ahead []chart.Dot
	most := 0.0
	for _, p := range points {
		if !p.Tentative {
			stable = max(stable, p.Reached)
		}
		reached = max(reached, p.Reached, stable)
		x := (p.At - begin).Seconds()
		steady = append(steady, chart.Dot{X: x, Y: (p.At - stable).Seconds()})
		ahead = append(ahead, chart.Dot{X: x, Y: (p.At - reached).Seconds()})
		most = max(most, (p.At - stable).Seconds())
	}
	c := &chart.Chart{
		ID: id, Title: title, Wide: true, Exact: true, YUnit: "s behind",
		XName:  "time, s; the first failure begins at " + chart.Short((evaluate.Micros(10*tuple.Second) - begin).Seconds()),
		Series: []chart.Series{{Name: "stable results", Dots: steady}, {Name: "with tentative results", Dots: ahead}},
		Summary: fmt.Sprintf("Two lines over time: how far the client's stable results are behind, at most %s s, and how far its results are behind with tentative ones among them.",
			chart.Short(most)),
	}
	return c.SVG()
}
