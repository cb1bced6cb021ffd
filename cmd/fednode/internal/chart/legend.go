package chart

import (
	"fmt"
	"html"
	"strings"
)

// Legend lists series with their signs, as HTML.
func Legend(names []string) string {
	var b strings.Builder
	b.WriteString(`<ul class="legend">`)
	for i, n := range names {
		d := &Drawing{Width: 26, Height: 12}
		d.path(fmt.Sprintf("l c%d d%d", i%palette, i%4), []Dot{{1, 6}, {25, 6}})
		d.mark(i, Dot{13, 6})
		fmt.Fprintf(&b, `<li><svg viewBox="0 0 26 12" aria-hidden="true">%s</svg>%s</li>`, d.body.String(), html.EscapeString(n))
	}
	return b.String() + "</ul>"
}

// Names lists the names of a chart's series.
func (c *Chart) Names() []string {
	names := make([]string, len(c.Series))
	for i, s := range c.Series {
		names[i] = s.Name
	}
	return names
}
