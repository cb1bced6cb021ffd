package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Chart is lines over one axis.
type Chart struct {
	// ID is unique on a page.
	ID, Title string
	// XName names the axis, YUnit what is drawn over it.
	XName, YUnit string
	Series       []Series
	// Bound is a line that the others should stay below or above, with its name; empty if there is none.
	Bound     []Dot
	BoundName string
	// LogX and LogY make an axis logarithmic: its values are above 0, others are left out.
	LogX, LogY bool
	// Tight lets the upright axis begin near the lowest value instead of at 0.
	Tight bool
	// TightX does the same for the level axis.
	TightX bool
	// Exact ends the axis at the largest value: for time.
	Exact bool
	// Wide is a chart over the whole width of a page.
	Wide bool
	// Summary says in words what is to be seen; empty for the first and the last figure of each line.
	Summary string
}

// Series is one line; its dots are values, in order of X. Lines of many dots are drawn without signs.
type Series struct {
	Name string
	Dots []Dot
}

// The frame of a chart.
const (
	chartWidth  = 400
	chartHeight = 260
	left        = 70
	right       = 14
	top         = 12
	bottom      = 42
	// mostMarks is up to how many dots of a line have a sign.
	mostMarks = 24
)

// SVG draws the chart as an element of a page that has Style.
func (c *Chart) SVG() string { return c.draw("") }

func (c *Chart) width() float64 {
	if c.Wide {
		return 2.6 * chartWidth
	}
	return chartWidth
}

func (c *Chart) draw(attributes string) string {
	d := &Drawing{Width: c.width(), Height: chartHeight}
	xs, ys := c.scales()
	c.axes(d, &xs, &ys)
	place := func(list []Dot) []Dot {
		out := make([]Dot, 0, len(list))
		for _, p := range list {
			if c.drawn(p) {
				out = append(out, Dot{xs.At(p.X), ys.At(p.Y)})
			}
		}
		return out
	}
	if at := place(c.Bound); len(at) > 0 {
		d.path("bound", at)
		d.text("boundname", "end", at[len(at)-1].X, at[len(at)-1].Y-5, c.BoundName)
	}
	for i, s := range c.Series {
		at := place(s.Dots)
		d.path(fmt.Sprintf("l c%d d%d", i%palette, c.dash(i)), at)
		if len(at) > mostMarks {
			continue
		}
		for _, p := range at {
			d.mark(i, p)
		}
	}
	return d.svg(attributes, c.ID, c.Title, c.describe())
}

// dash is how a line is drawn; on a wide chart colours alone part them, for dashes hide what happens between dots.
func (c *Chart) dash(series int) int {
	if c.Wide {
		return 0
	}
	return series % 4
}

// drawn reports whether a value has a place.
func (c *Chart) drawn(p Dot) bool {
	finite := !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X, 0) && !math.IsInf(p.Y, 0)
	return finite && (!c.LogX || p.X > 0) && (!c.LogY || p.Y > 0)
}

func (c *Chart) scales() (x, y Scale) {
	var across, up []float64
	for _, s := range append(slices.Clone(c.Series), Series{Dots: c.Bound}) {
		for _, p := range s.Dots {
			if c.drawn(p) {
				across, up = append(across, p.X), append(up, p.Y)
			}
		}
	}
	if len(across) == 0 {
		across, up = []float64{1}, []float64{1}
	}
	slices.Sort(across)
	across = slices.Compact(across)
	end, ticks := c.width()-right, 7
	if c.Wide {
		ticks = 12
	}
	switch last := across[len(across)-1]; {
	case c.LogX:
		x = Logarithmic(across, left+8, end-14)
	case c.Exact:
		x = Until(last, ticks, left, end)
	case c.TightX && len(across) > 1:
		x = Between(across[0], last, ticks, left, end)
	default:
		x = Between(math.Min(0, across[0]), math.Max(last, across[0]+1e-12), ticks, left, end)
	}
	low, high := slices.Min(up), slices.Max(up)
	switch {
	case c.LogY:
		y = decades(low, high)
	case c.Tight && high > low:
		y = Between(low, high, 5, chartHeight-bottom, top)
	case low < 0:
		y = Between(low, high*1.04, 5, chartHeight-bottom, top)
	default:
		y = Linear(high*1.04, 5, chartHeight-bottom, top)
	}
	return x, y
}

// decades is an upright logarithmic axis over whole powers of ten.
func decades(low, high float64) Scale {
	var powers []float64
	last := math.Max(math.Ceil(math.Log10(high)-1e-9), math.Floor(math.Log10(low)+1e-9)+1)
	for k := math.Floor(math.Log10(low) + 1e-9); k <= last; k++ {
		powers = append(powers, math.Pow(10, k))
	}
	return Logarithmic(powers, chartHeight-bottom, top)
}

func (c *Chart) axes(d *Drawing, x, y *Scale) {
	end := c.width() - right
	for _, t := range y.Ticks {
		d.line("grid", left, y.At(t), end, y.At(t))
		d.text("tick", "end", left-7, y.At(t)+3.5, Label(t))
	}
	for _, t := range x.Ticks {
		d.line("tickmark", x.At(t), chartHeight-bottom, x.At(t), chartHeight-bottom+4)
		d.text("tick", "middle", x.At(t), chartHeight-bottom+16, Label(t))
	}
	d.line("axis", left, chartHeight-bottom, end, chartHeight-bottom)
	d.text("name", "middle", (left+end)/2, chartHeight-7, c.XName)
	d.add(`<text class="name" text-anchor="middle" transform="translate(11 %d) rotate(-90)">%s</text>`, (top+chartHeight-bottom)/2, html.EscapeString(c.YUnit))
}

// describe says in words what the lines show.
func (c *Chart) describe() string {
	if c.Summary != "" {
		return c.Summary
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Lines over %s.", c.XName)
	for _, s := range c.Series {
		if len(s.Dots) == 0 {
			continue
		}
		first, last := s.Dots[0], s.Dots[len(s.Dots)-1]
		fmt.Fprintf(&b, " %s: from %s %s at %s to %s %s at %s.", s.Name, Short(first.Y), c.YUnit, Short(first.X), Short(last.Y), c.YUnit, Short(last.X))
	}
	return b.String()
}
