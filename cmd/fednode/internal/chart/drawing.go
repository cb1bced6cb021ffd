package chart

import (
	"fmt"
	"html"
	"strings"
)

// Drawing is an SVG element in the making. Colours are those of Style.
type Drawing struct {
	body          strings.Builder
	Width, Height float64
}

func (d *Drawing) add(format string, args ...any) { fmt.Fprintf(&d.body, format, args...) }

// line draws a straight line of a class.
func (d *Drawing) line(class string, x1, y1, x2, y2 float64) {
	d.add(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// text writes text; anchor is start, middle or end.
func (d *Drawing) text(class, anchor string, x, y float64, text string) {
	d.add(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(text))
}

// Dot is a value of x and y, or a place in a drawing.
type Dot struct{ X, Y float64 }

func (d *Drawing) path(class string, dots []Dot) {
	if len(dots) < 2 {
		return
	}
	d.add(`<polyline class="%s" points="`, class)
	for i, p := range dots {
		if i > 0 {
			d.add(" ")
		}
		d.add("%.1f,%.1f", p.X, p.Y)
	}
	d.add(`"/>`)
}

// mark draws the sign of a series, so that series differ without colour too. Later ones are smaller, so that those below
// show where lines meet.
func (d *Drawing) mark(series int, p Dot) {
	r := 5.2 - 0.8*float64(series%4)
	class := fmt.Sprintf("m c%d", series%palette)
	switch series % 4 {
	case 0:
		d.add(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"/>`, class, p.X, p.Y, r)
	case 1:
		d.add(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, p.X-r+.4, p.Y-r+.4, 2*r-.8, 2*r-.8)
	case 2:
		d.add(`<path class="%s" d="M%.1f %.1fl%.1f %.1fh%.1fz"/>`, class, p.X, p.Y-r-.6, r+.6, 2*r, -2*r-1.2)
	default:
		d.add(`<path class="%s" d="M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz"/>`, class, p.X, p.Y-r-1, r+1, r+1, -r-1, r+1, -r-1, -r-1)
	}
}

// palette is how many colours there are.
const palette = 5

// svg closes the element. title and description are what is read out instead of it.
func (d *Drawing) svg(attributes, id, title, description string) string {
	return fmt.Sprintf(`<svg %sviewBox="0 0 %g %g" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		attributes, d.Width, d.Height, id, id, id, html.EscapeString(title), id, html.EscapeString(description), d.body.String())
}
