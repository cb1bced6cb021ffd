package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// tailPrinter shows rows as they come: as they are for programs, in columns for people.
type tailPrinter struct {
	out    io.Writer
	errs   io.Writer
	raw    bool
	latest bool // each line says what it is
	room   int  // cells of the terminal; 0 is as many as it takes
	names  []string
	// natural widths of columns: those of the widest text so far.
	natural []int
	short   bool   // times stand without their day, so that rows fit
	day     string // that was said last
	shown   int
}

func newTailPrinter(c *cobra.Command, latest bool) *tailPrinter {
	p := &tailPrinter{out: c.OutOrStdout(), errs: c.ErrOrStderr(), raw: jsonWanted(c), latest: latest}
	if cells, ok := terminalWidth(p.out); ok {
		p.room = cells
	}
	return p
}

// headEvery is how many rows come between two heads.
const headEvery = 40

// A tentative row stands under another mark and in another tone, and what becomes of such rows too.
const (
	markStable    = "  "
	markTentative = "? "
	markUndo      = "✗ "
	markDone      = "✓ "
)

func (p *tailPrinter) line(line []byte) error {
	if bytes.HasPrefix(line, []byte(`{"gap"`)) || p.latest && bytes.HasPrefix(line, []byte(`{"event":"gap"`)) {
		fmt.Fprintln(p.errs, "warning: stable rows are lost: "+gapText(line))
		if !p.raw {
			return nil
		}
	}
	if p.raw {
		_, err := fmt.Fprintf(p.out, "%s\n", line)
		return err
	}
	names, values, err := orderedObject(line)
	if err != nil {
		return err
	}
	if !p.latest || len(values) == 0 {
		p.data(names, values, "", toneNone)
		return nil
	}
	p.event(values[0], names[1:], values[1:])
	return nil
}

// gapText says which rows a gap means, and why; the line as it is if it says neither.
func gapText(line []byte) string {
	type lost struct {
		From, To *string
		Reason   string
	}
	var g struct {
		lost
		Gap *lost
	}
	if err := json.Unmarshal(line, &g); err != nil {
		return clean(string(line))
	}
	if g.Gap != nil {
		g.lost = *g.Gap
	}
	if g.From == nil && g.To == nil {
		return clean(g.Reason) // of what time they are is not known
	}
	from, to := "the beginning", "the end"
	if g.From != nil {
		from = *g.From
	}
	if g.To != nil && *g.To != "end" {
		to = *g.To
	}
	return clean(fmt.Sprintf("from %s to %s: %s", from, to, g.Reason))
}

// event shows a line that says what it is.
func (p *tailPrinter) event(event string, names, values []string) {
	switch event {
	case "stable":
		p.data(names, values, markStable, toneNone)
	case "tentative":
		p.data(names, values, markTentative, toneWarn)
	case "undo":
		p.note(markUndo, toneBad, "void: "+clause(values, "-", "the tentative rows above from %s on"))
	case "done":
		p.note(markDone, toneGood, "replaced by the stable rows above: "+clause(values, "end", "the tentative rows before %s"))
	}
}

// clause says which tentative rows are meant.
func clause(values []string, all, format string) string {
	if len(values) == 0 || values[0] == all {
		return "all tentative rows"
	}
	return fmt.Sprintf(format, values[0])
}

func (p *tailPrinter) note(mark string, t tone, text string) {
	fmt.Fprintln(p.out, paletteOf(p.out).paint(t, mark+text))
}

// data prints a row, under a head where that is due.
func (p *tailPrinter) data(names, values []string, mark string, t tone) {
	if p.shown%headEvery == 0 || strings.Join(names, "\x00") != strings.Join(p.names, "\x00") {
		p.lay(names, values)
		p.sayDay(values)
		p.row(names, strings.Repeat(" ", len([]rune(mark))), toneBold)
	} else {
		p.sayDay(values)
	}
	p.shown++
	if p.short {
		values = clockTimes(values)
	}
	p.row(values, mark, t)
}

// sayDay says the day of the rows that follow where their times are without it.
func (p *tailPrinter) sayDay(values []string) {
	for _, v := range values {
		if day, _, ok := dayAndClock(v); ok && p.short {
			if day != p.day {
				p.day = day
				fmt.Fprintln(p.out, paletteOf(p.out).paint(toneDim, day+", times in UTC"))
			}
			return
		}
	}
}

// row prints one line; columns grow as wider values come, as far as there is room.
func (p *tailPrinter) row(cells []string, mark string, t tone) {
	pal := paletteOf(p.out)
	widths := p.grow(cells)
	var b strings.Builder
	b.WriteString(pal.paint(t, mark))
	for i, c := range cells {
		c = cutTo(c, widths[i])
		b.WriteString(pal.paint(t, c))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+tailGap))
		}
	}
	fmt.Fprintln(p.out, b.String())
}

// orderedObject reads a flat JSON object with its keys in order, values as people read them.
func orderedObject(line []byte) (names, values []string, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, nil, err
		}
		text := fmt.Sprint(v)
		if v == nil {
			text = "-"
		}
		names, values = append(names, fmt.Sprint(key)), append(values, clean(text))
	}
	return names, values, nil
}
