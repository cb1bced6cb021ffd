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
	marks  [chosen + 1]marks
}

// marks stand before and after a text of some tone. A style is asked for them once: it costs far more than the text.
type marks struct{ before, after string }

func newPainter(colour bool) *painter {
	p := &painter{colour: colour}
	if !colour {
		return p
	}
	s := lipgloss.NewStyle()
	for t, style := range map[tone]lipgloss.Style{
		dim: s.Faint(true), strong: s.Bold(true), chosen: s.Reverse(true),
		good: s.Foreground(lipgloss.Green), warn: s.Foreground(lipgloss.Yellow), bad: s.Foreground(lipgloss.Red),
	} {
		p.marks[t].before, p.marks[t].after, _ = strings.Cut(style.Render("x"), "x")
	}
	return p
}

// stale returns a painter of what may be true no longer: everything is dim.
func (p *painter) stale() *painter {
	out := &painter{colour: p.colour}
	for t := range out.marks {
		out.marks[t] = p.marks[dim]
	}
	return out
}

func (p *painter) paint(c cell) string {
	if c.text == "" {
		return ""
	}
	return p.marks[c.tone].before + c.text + p.marks[c.tone].after
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
