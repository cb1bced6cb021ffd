package chart

import (
	"fmt"
	"html"
	"strings"
)

// File draws the chart as a document of its own, with its title and its legend, on a ground that suits light and dark.
func (c *Chart) File() string {
	const head, row = 30, 18
	width := c.width()
	legend := &Drawing{}
	legend.text("title", "start", 12, 21, c.Title)
	y := float64(head)
	if len(c.Series) > 1 {
		for i, s := range c.Series {
			d := &Drawing{}
			d.path(fmt.Sprintf("l c%d d%d", i%palette, c.dash(i)), []Dot{{left, y + 6}, {left + 28, y + 6}})
			d.mark(i, Dot{left + 14, y + 6})
			d.text("tick", "start", left+36, y+10, s.Name)
			legend.add("%s", d.body.String())
			y += row
		}
	}
	height := y + chartHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s">`,
		width, height, 1.6*width, 1.6*height, html.EscapeString(c.Title))
	fmt.Fprintf(&b, "<style>\n%s.title { font-size: 14px; font-weight: 600; fill: var(--fg); } svg text { font-family: system-ui, sans-serif; } .ground { fill: var(--bg); }\n</style>", lines)
	fmt.Fprintf(&b, `<rect class="ground" width="%g" height="%g"/>`, width, height)
	b.WriteString(legend.body.String())
	b.WriteString(c.draw(fmt.Sprintf(`y="%g" width="%g" height="%d" `, y, width, chartHeight)))
	b.WriteString("</svg>\n")
	return b.String()
}
