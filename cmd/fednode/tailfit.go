package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// tailGap is what lies between two columns of a tail, and leastColumn the least width that one is cut to.
const (
	tailGap     = 2
	leastColumn = 6
)

// lay begins columns anew, as wide as their head and the first row below it. Where that is wider than the terminal, times
// go without their day.
func (p *tailPrinter) lay(names, values []string) {
	p.names, p.short = names, false
	p.natural = columnWidths(names, values)
	if p.room > 0 && sum(p.natural) > p.forText() {
		p.short = true
		p.natural = columnWidths(names, clockTimes(values))
	}
}

// forText is how many cells of a line are for text: the rest is the mark and what lies between columns.
func (p *tailPrinter) forText() int {
	room := p.room - tailGap*max(0, len(p.natural)-1)
	if p.latest {
		room -= utf8.RuneCountInString(markStable)
	}
	return room
}

// grow widens columns for a row and returns how wide they are. Where there is no room for all of that, the widest are cut.
func (p *tailPrinter) grow(cells []string) []int {
	for i, c := range cells {
		p.natural[i] = max(p.natural[i], utf8.RuneCountInString(c))
	}
	widths := slices.Clone(p.natural)
	for p.room > 0 && sum(widths) > p.forText() {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			break // so many columns that rows take two lines of the terminal
		}
		widths[widest]--
	}
	return widths
}

// cutTo cuts a text to a width, and shows that it did.
func cutTo(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

func columnWidths(names, values []string) []int {
	out := make([]int, len(names))
	for i := range out {
		out[i] = utf8.RuneCountInString(names[i])
		if i < len(values) {
			out[i] = max(out[i], utf8.RuneCountInString(values[i]))
		}
	}
	return out
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// clockTimes cuts the day off values that are times.
func clockTimes(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v
		if _, clock, ok := dayAndClock(v); ok {
			out[i] = clock
		}
	}
	return out
}

// dayAndClock takes an RFC 3339 time in UTC apart.
func dayAndClock(text string) (day, clock string, ok bool) {
	body, utc := strings.CutSuffix(text, "Z")
	if !utc || len(body) < len("2006-01-02T15:04:05") || body[4] != '-' || body[7] != '-' || body[10] != 'T' || body[13] != ':' || body[16] != ':' {
		return "", "", false
	}
	return body[:10], body[11:], true
}
