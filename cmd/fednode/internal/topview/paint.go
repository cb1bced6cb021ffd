package topview

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// tone is how a piece of text stands out.
type tone uint8

const (
	plain tone = iota
	dim
	strong
	good
	warn
	bad
	chosen // the selected row
)

// cell is a piece of text on one line.
type cell struct {
	text string
	tone tone
}

// painter writes tones, or nothing of them where colours do not belong.
type painter struct {
	colour bool
	styles [chosen + 1]lipgloss.Style
}

func newPainter(colour bool) *painter {
	p := &painter{colour: colour}
	for i := range p.styles {
		p.styles[i] = lipgloss.NewStyle()
	}
	if !colour {
		return p
	}
	s := &p.styles
	s[dim] = s[dim].Faint(true)
	s[strong] = s[strong].Bold(true)
	s[good] = s[good].Foreground(lipgloss.Green)
	s[warn] = s[warn].Foreground(lipgloss.Yellow)
	s[bad] = s[bad].Foreground(lipgloss.Red)
	s[chosen] = s[chosen].Reverse(true)
	return p
}

// stale returns a painter of what may be true no longer: everything is dim.
func (p *painter) stale() *painter {
	out := &painter{colour: p.colour}
	for i := range out.styles {
		out.styles[i] = p.styles[dim]
	}
	return out
}

func (p *painter) paint(c cell) string {
	if c.text == "" || !p.colour {
		return c.text
	}
	return p.styles[c.tone].Render(c.text)
}

// flowGap is the space between cells of a flow.
const flowGap = 2

// flow joins cells and cuts what is wider than width.
func (p *painter) flow(width int, cells ...cell) string {
	var b strings.Builder
	first := true
	for _, c := range cells {
		if c.text == "" {
			continue
		}
		gap := flowGap
		if first {
			gap = 0
		}
		if width <= gap {
			break
		}
		first = false
		c.text = cut(c.text, width-gap)
		b.WriteString(strings.Repeat(" ", gap))
		b.WriteString(p.paint(c))
		width -= gap + lipgloss.Width(c.text)
	}
	return b.String()
}

// cut shortens text to so many columns; an ellipsis says so.
func cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if lipgloss.Width(s) <= width {
		return s
	}
	end := 0
	for i := range s {
		// The whole start is measured: runes together may be wider than apart.
		if lipgloss.Width(s[:i]) > width-1 {
			break
		}
		end = i
	}
	return s[:end] + "…"
}

// pad fills text up to so many columns.
func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}
