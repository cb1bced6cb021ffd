package page

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/evaluate"
)

// timelineSVG draws how far behind a client was, moment by moment: stable results, and what it had with tentative ones.
func timelineSVG(id, title string, points []evaluate.Point) string {
	d := &drawing{width: 2.6 * chartWidth, height: chartHeight}
	begin := points[0].At
	stable, reached := points[0].Reached, points[0].Reached
	var steady, ahead []dot
	most, last := 0.0, 0.0
	for _, p := range points {
		if !p.Tentative {
			stable = max(stable, p.Reached)
		}
		reached = max(reached, p.Reached, stable)
		x := (p.At - begin).Seconds()
		steady = append(steady, dot{x, (p.At - stable).Seconds()})
		ahead = append(ahead, dot{x, (p.At - reached).Seconds()})
		most, last = max(most, (p.At-stable).Seconds()), x
	}
	xs := linear(last, 12, left, d.width-right)
	xs.hi = last
	ys := linear(most*1.04, 5, chartHeight-bottom, top)
	for _, t := range ys.ticks {
		d.line("grid", left, ys.at(t), d.width-right, ys.at(t))
		d.text("tick", "end", left-7, ys.at(t)+3.5, label(t))
	}
	for _, t := range xs.ticks {
		if t <= last {
			d.line("tickmark", xs.at(t), chartHeight-bottom, xs.at(t), chartHeight-bottom+4)
			d.text("tick", "middle", xs.at(t), chartHeight-bottom+16, label(t))
		}
	}
	d.line("axis", left, chartHeight-bottom, d.width-right, chartHeight-bottom)
	d.text("name", "middle", (left+d.width-right)/2, chartHeight-7, "time, s; the first failure begins at "+short((evaluate.Micros(10*tuple.Second)-begin).Seconds()))
	d.add(`<text class="name" text-anchor="middle" transform="translate(14 %d) rotate(-90)">s behind</text>`, (top+chartHeight-bottom)/2)
	for i, list := range [][]dot{steady, ahead} {
		for k := range list {
			list[k] = dot{xs.at(list[k].x), ys.at(list[k].y)}
		}
		d.path(fmt.Sprintf("l c%d d0", i), list)
	}
	return d.svg(id, title, fmt.Sprintf("Two lines over time: how far the client's stable results are behind, at most %s s, and how far its results are behind with tentative ones among them.", short(most)))
}
