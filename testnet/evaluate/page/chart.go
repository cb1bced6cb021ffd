package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// chart is lines over one axis.
type chart struct {
	id, title    string
	xName, yUnit string
	series       []series
	// bound is a line that the others should stay below, empty if there is none.
	bound []dot
	logX  bool
}

// series is one line; its dots are values, not places.
type series struct {
	name string
	dots []dot
}

// The frame of a chart.
const (
	chartWidth  = 400
	chartHeight = 260
	left        = 70
	right       = 14
	top         = 12
	bottom      = 42
)

// svg draws the chart.
func (c *chart) svg() string {
	d := &drawing{width: chartWidth, height: chartHeight}
	xs, ys := c.scales()
	c.axes(d, &xs, &ys)
	place := func(list []dot) []dot {
		out := make([]dot, len(list))
		for i, p := range list {
			out[i] = dot{xs.at(p.x), ys.at(p.y)}
		}
		return out
	}
	if len(c.bound) > 0 {
		at := place(c.bound)
		d.path("bound", at)
		d.text("boundname", "end", at[len(at)-1].x, at[len(at)-1].y-5, "bound X")
	}
	for i, s := range c.series {
		at := place(s.dots)
		d.path(fmt.Sprintf("l c%d d%d", i%palette, i%4), at)
		for _, p := range at {
			d.mark(i, p)
		}
	}
	return d.svg(c.id, c.title, c.describe())
}

func (c *chart) scales() (x, y scale) {
	most := 0.0
	var places []float64
	for _, s := range c.series {
		for _, p := range s.dots {
			most = math.Max(most, p.y)
			places = append(places, p.x)
		}
	}
	for _, p := range c.bound {
		most = math.Max(most, p.y)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	if c.logX {
		x = logarithmic(places, left+8, chartWidth-right-14)
	} else {
		x = linear(places[len(places)-1], 7, left, chartWidth-right)
	}
	return x, linear(most*1.04, 5, chartHeight-bottom, top)
}

func (c *chart) axes(d *drawing, x, y *scale) {
	for _, t := range y.ticks {
		d.line("grid", left, y.at(t), chartWidth-right, y.at(t))
		d.text("tick", "end", left-7, y.at(t)+3.5, label(math.Round(t*1000)/1000))
	}
	for _, t := range x.ticks {
		d.line("tickmark", x.at(t), chartHeight-bottom, x.at(t), chartHeight-bottom+4)
		d.text("tick", "middle", x.at(t), chartHeight-bottom+16, label(math.Round(t*1000)/1000))
	}
	d.line("axis", left, chartHeight-bottom, chartWidth-right, chartHeight-bottom)
	d.text("name", "middle", (left+chartWidth-right)/2, chartHeight-7, c.xName)
	d.add(`<text class="name" text-anchor="middle" transform="translate(14 %d) rotate(-90)">%s</text>`, (top+chartHeight-bottom)/2, c.yUnit)
}

// describe says in words what the lines show.
func (c *chart) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Lines over %s.", c.xName)
	for _, s := range c.series {
		if len(s.dots) == 0 {
			continue
		}
		first, last := s.dots[0], s.dots[len(s.dots)-1]
		fmt.Fprintf(&b, " %s: from %s %s at %s to %s %s at %s.", s.name, short(first.y), c.yUnit, short(first.x), short(last.y), c.yUnit, short(last.x))
	}
	b.WriteString(" All figures are in the table below.")
	return b.String()
}

// legend lists the series with their signs, as HTML.
func legend(names []string) string {
	var b strings.Builder
	b.WriteString(`<ul class="legend">`)
	for i, n := range names {
		d := &drawing{width: 26, height: 12}
		d.path(fmt.Sprintf("l c%d d%d", i%palette, i%4), []dot{{1, 6}, {25, 6}})
		d.mark(i, dot{13, 6})
		fmt.Fprintf(&b, `<li><svg viewBox="0 0 26 12" aria-hidden="true">%s</svg>%s</li>`, d.body.String(), escape(n))
	}
	return b.String() + "</ul>"
}
