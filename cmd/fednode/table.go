package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// tone is how a piece of text stands out on a terminal.
type tone string

const (
	toneNone tone = ""
	toneDim  tone = "2"
	toneBold tone = "1"
	toneGood tone = "32"
	toneWarn tone = "33"
	toneBad  tone = "31"
)

// palette writes tones, or nothing of them where colours do not belong.
type palette struct{ on bool }

// paletteOf colours only on a terminal, and not if NO_COLOR is set.
func paletteOf(w io.Writer) palette {
	f, ok := w.(*os.File)
	return palette{ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (p palette) paint(t tone, s string) string {
	if !p.on || t == toneNone || s == "" {
		return s
	}
	return "\x1b[" + string(t) + "m" + s + "\x1b[0m"
}

// cell is one field of a table.
type cell struct {
	text string
	tone tone
}

func plainCells(texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, t := range texts {
		cells[i].text = t
	}
	return cells
}

// table is aligned columns under a head; with no head there is none.
type table struct {
	head []string
	rows [][]cell
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// print writes the table, columns two spaces apart and no space at a line's end.
func (t *table) print(w io.Writer) {
	for _, line := range t.lines(paletteOf(w)) {
		fmt.Fprintln(w, line)
	}
}

// lines lays the table out.
func (t *table) lines(p palette) []string {
	rows := t.rows
	if len(t.head) > 0 {
		head := plainCells(t.head...)
		for i := range head {
			head[i].tone = toneBold
		}
		rows = append([][]cell{head}, rows...)
	}
	widths := t.widths()
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = rowText(p, r, widths)
	}
	return out
}

// widths returns how wide each column is.
func (t *table) widths() []int {
	var widths []int
	for _, r := range append([][]cell{plainCells(t.head...)}, t.rows...) {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

// alignRight lets the texts of columns end below one another.
func (t *table) alignRight(columns ...int) {
	widths := t.widths()
	pad := func(s string, i int) string { return strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s)) + s }
	for _, i := range columns {
		if i < len(t.head) {
			t.head[i] = pad(t.head[i], i)
		}
		for _, r := range t.rows {
			if i < len(r) && r[i].text != "" {
				r[i].text = pad(r[i].text, i)
			}
		}
	}
}

func rowText(p palette, r []cell, widths []int) string {
	last := len(r) - 1
	for last > 0 && r[last].text == "" {
		last--
	}
	var b strings.Builder
	for i, c := range r[:last+1] {
		b.WriteString(p.paint(c.tone, c.text))
		if i < last {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
		}
	}
	return b.String()
}

// clean makes text from elsewhere safe to print: no control characters that a terminal would obey.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
}
