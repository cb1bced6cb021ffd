package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fednode/testnet/evaluate"
)

// evaluateProgress says how far an evaluation is: one line that is redrawn on a terminal, else one now and then.
type evaluateProgress struct {
	out  io.Writer
	live bool
	said time.Time
}

func newEvaluateProgress(c *cobra.Command) *evaluateProgress {
	return &evaluateProgress{out: c.ErrOrStderr(), live: canRedraw(c.ErrOrStderr()), said: time.Now()}
}

// ended takes how many runs have ended.
func (p *evaluateProgress) ended(ended, all int) {
	pause := plainPause
	if p.live {
		pause = lookPause
	}
	if time.Since(p.said) < pause {
		return
	}
	p.said = time.Now()
	line := fmt.Sprintf("%s of %s runs", grouped(uint64(ended)), grouped(uint64(all)))
	if p.live {
		fmt.Fprintf(p.out, "\r%s\x1b[K", line)
		return
	}
	fmt.Fprintln(p.out, line)
}

// say tells of a step on real daemons.
func (p *evaluateProgress) say(text string) { fmt.Fprintln(p.out, text) }

// clear takes the line of a terminal away.
func (p *evaluateProgress) clear() {
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// printEvaluation prints the tables.
func printEvaluation(w io.Writer, d *evaluate.Document) {
	bold := paletteOf(w)
	for _, x := range d.Experiments {
		fmt.Fprintf(w, "%s\n%s\n%s\n", bold.paint(toneBold, x.Title), x.Question, bold.paint(toneDim, x.Setup))
		for _, p := range x.Panels {
			fmt.Fprintln(w)
			panelTable(x, p).print(w)
		}
		printRates(w, x)
		for _, note := range x.Notes {
			fmt.Fprintf(w, "\n%s\n", note)
		}
		fmt.Fprintln(w)
	}
	t := table{head: []string{"FIGURE", "TARGET", "MEASURED", ""}}
	for _, g := range d.Targets {
		mark := cell{"✓ met", toneGood}
		if !g.Met {
			mark = cell{"✗ missed", toneBad}
		}
		t.add(append(plainCells(g.Figure, g.Target, g.Measured), mark)...)
	}
	t.print(w)
	for _, a := range d.Absent {
		fmt.Fprintf(w, "\nNot measured: %s\n", a)
	}
	fmt.Fprintf(w, "\nTimes are in seconds, the longest of %s; rows are averages. %.0f s on %s.\n", plural(d.Seeds, "run"), d.Took.Seconds(), d.Machine)
}

// panelTable is one cell a row.
func panelTable(x *evaluate.Experiment, p *evaluate.Panel) *table {
	t := &table{head: []string{p.Title, x.Axis, "NORMAL", "DELAY", "PUBLISHED", "INCREMENTAL", "PAUSE", "TENTATIVE", "CORRECTED", "ALL STABLE", "WORKED", "ROWS", "HOLES", "STABLE"}}
	last := ""
	for _, c := range p.Cells {
		name := c.Series
		if name == last {
			name = ""
		}
		last = c.Series
		equal := cell{"equal", toneGood}
		if c.Unequal > 0 {
			equal = cell{"NOT equal", toneBad}
		}
		s := func(m evaluate.Micros) string { return fmt.Sprintf("%.2f", m.Seconds()) }
		pause := ""
		if c.Gap > 0 {
			pause = s(c.Gap)
		}
		t.add(append(plainCells(name, c.Place(), s(c.Normal), s(c.Delay), c.Published, s(c.Incremental), pause,
			grouped(uint64(c.Tentative)), s(c.Corrected), s(c.Settled), s(c.Worked), grouped(uint64(c.Rows)), fmt.Sprint(c.Holes)), equal)...)
	}
	if !slices.Contains(x.Charts, evaluate.MeasureWorked) {
		t.drop(11) // ROWS
		t.drop(10)
	}
	if !hasPublished(p) {
		t.drop(4)
	}
	for i := 1; i < len(t.head)-1; i++ {
		t.alignRight(i)
	}
	return t
}

func hasPublished(p *evaluate.Panel) bool {
	for _, c := range p.Cells {
		if c.Published != "" {
			return true
		}
	}
	return false
}

// drop takes a column out.
func (t *table) drop(column int) {
	t.head = append(t.head[:column], t.head[column+1:]...)
	for i, r := range t.rows {
		t.rows[i] = append(r[:column], r[column+1:]...)
	}
}

func writeJSONFile(path string, v any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetIndent("", "  ")
	return errors.Join(e.Encode(v), f.Close())
}
