package topview

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// column is how a column of a grid behaves.
type column struct {
	title string
	right bool // numbers end in line
	// min is the least width: a column of numbers does not jump with each of them, and one that can shrink stays legible.
	min    int
	shrink bool
	// drop orders the columns that may go when the terminal is narrow, the highest first; 0 stays.
	drop int
}

// row is an entry of a grid.
type row struct {
	cells []cell
	// loose cells do not keep to the columns: the second begins where its column does, if it can, and the others follow.
	loose    bool
	trouble  bool // something that needs a person
	selected bool
}

// grid is rows under a head.
type grid struct {
	columns []column
	rows    []row
}

func (g *grid) add(r row) { g.rows = append(g.rows, r) }

// note adds a line about the row above.
func (g *grid) note(indent int, c cell) {
	c.text = strings.Repeat(" ", indent) + c.text
	g.add(row{cells: []cell{c}, loose: true, trouble: c.tone == bad || c.tone == warn})
}

// entry is a drawn row.
type entry struct {
	text              string
	trouble, selected bool
}

// section is a drawn grid.
type section struct {
	head    string
	entries []entry
}

// lines are all lines of a section.
func (s section) lines() []string {
	out := []string{s.head}
	for _, e := range s.entries {
		out = append(out, e.text)
	}
	return out
}

// draw lays the grid out in so many columns of the terminal.
func (g *grid) draw(width int, p *painter) section {
	l := g.layout(width)
	head := make([]cell, len(g.columns))
	for i := range g.columns {
		head[i] = cell{g.columns[i].title, strong}
	}
	out := section{head: l.line(head, p)}
	for _, r := range g.rows {
		e := entry{trouble: r.trouble, selected: r.selected}
		switch {
		case r.selected:
			e.text = l.selected(r, p)
		case r.loose:
			e.text = p.flow(width, l.loosen(r.cells)...)
		default:
			e.text = l.line(r.cells, p)
		}
		out.entries = append(out.entries, e)
	}
	return out
}

// layout is the widths of a grid's columns; a dropped one has width 0.
type layout struct {
	columns []column
	widths  []int
	gap     int
	width   int
}

func (g *grid) layout(width int) *layout {
	l := &layout{columns: g.columns, widths: make([]int, len(g.columns)), gap: 2, width: width}
	if width < 100 {
		l.gap = 1
	}
	for i, c := range g.columns {
		l.widths[i] = max(c.min, lipgloss.Width(c.title))
	}
	for _, r := range g.rows {
		for i := range r.cells {
			if !r.loose && i < len(l.widths) {
				l.widths[i] = max(l.widths[i], lipgloss.Width(r.cells[i].text))
			}
		}
	}
	for l.excess() > 0 && (l.shrink() || l.drop()) {
	}
	return l
}

// excess is how much wider the columns are than the terminal.
func (l *layout) excess() int {
	n := -l.gap
	for _, w := range l.widths {
		if w > 0 {
			n += w + l.gap
		}
	}
	return n - l.width
}

// shrink takes what is too much from the widest column that can give it; false if none can.
func (l *layout) shrink() bool {
	widest := -1
	for i, c := range l.columns {
		if c.shrink && l.widths[i] > c.min && (widest < 0 || l.widths[i] > l.widths[widest]) {
			widest = i
		}
	}
	if widest < 0 {
		return false
	}
	l.widths[widest]--
	return true
}

// drop takes away the least telling column; false if all that are left must stay.
func (l *layout) drop() bool {
	least := -1
	for i, c := range l.columns {
		if l.widths[i] > 0 && c.drop > 0 && (least < 0 || c.drop > l.columns[least].drop) {
			least = i
		}
	}
	if least < 0 {
		return false
	}
	l.widths[least] = 0
	return true
}

// line draws cells in their columns.
func (l *layout) line(cells []cell, p *painter) string {
	var b strings.Builder
	room, blanks := l.width, 0
	for i, c := range cells {
		w := min(l.widths[i], room)
		if w <= 0 {
			continue
		}
		c.text = cut(c.text, w)
		before, after := 0, w-lipgloss.Width(c.text)
		if l.columns[i].right {
			before, after = after, 0
		}
		if c.text == "" { // blanks wait for the next text: no line ends in them
			blanks += w + l.gap
		} else {
			b.WriteString(strings.Repeat(" ", blanks+before))
			b.WriteString(p.paint(c))
			blanks = after + l.gap
		}
		room -= w + l.gap
	}
	return b.String()
}

// loosen makes the first of several cells so wide that the second begins in its column.
func (l *layout) loosen(cells []cell) []cell {
	if len(cells) < 2 {
		return cells
	}
	cells[0].text = pad(cells[0].text, l.widths[0]+l.gap-flowGap, false)
	return cells
}

// selected draws a row over the whole width.
func (l *layout) selected(r row, p *painter) string {
	bare := make([]cell, len(r.cells))
	for i, c := range r.cells {
		bare[i].text = c.text
	}
	none := newPainter(false)
	text := ""
	if r.loose {
		text = none.flow(l.width, l.loosen(bare)...)
	} else {
		text = l.line(bare, none)
	}
	if !p.colour {
		return text
	}
	return p.paint(cell{pad(text, l.width, false), chosen})
}
