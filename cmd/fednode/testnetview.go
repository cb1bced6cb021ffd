package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fednode/node/api"
	"fednode/testnet"
)

// testnetScreen turns what is known of a testnet into lines for people.
type testnetScreen struct {
	palette palette
	// planted sources by what to say of them.
	planted map[string]string

	now, before testnet.View
	rates       map[string]float64     // rows a second that enter, by node
	last        map[string][]resultRow // by output
	results     uint64                 // rows that the tails brought
}

// resultRow is a row of an output: its columns in their order.
type resultRow struct {
	names  []string
	values []string
}

// shownResults is how many of the last results are shown, shared among the outputs, and leastResults how many of each.
const (
	shownResults = 8
	leastResults = 3
)

// rateWeight is how much the newest measurement counts: the rate should not flicker.
const rateWeight = 0.3

// observe takes a new view.
func (s *testnetScreen) observe(v testnet.View) {
	s.before, s.now = s.now, v
	if s.rates == nil {
		s.rates = make(map[string]float64)
	}
	span := v.At.Sub(s.before.At).Seconds()
	for i, n := range v.Nodes {
		if i >= len(s.before.Nodes) || span <= 0 {
			continue
		}
		old := s.before.Nodes[i]
		if n.Rows < old.Rows || !old.Answers && n.Rows > 0 && old.Rows == 0 {
			continue // it was away, or counts anew
		}
		rate := float64(n.Rows-old.Rows) / span
		if had, ok := s.rates[n.ID]; ok {
			rate = rateWeight*rate + (1-rateWeight)*had
		}
		s.rates[n.ID] = rate
	}
}

// result takes a row that the tail of an output brought.
func (s *testnetScreen) result(output string, data []byte) (resultRow, error) {
	r, err := readResult(data)
	if err != nil {
		return r, err
	}
	s.results++
	if s.last == nil {
		s.last = make(map[string][]resultRow)
	}
	rows := append(s.last[output], r)
	s.last[output] = rows[max(0, len(rows)-shownResults):]
	return r, nil
}

// readResult reads a JSON object of scalars with its keys in their order.
func readResult(data []byte) (r resultRow, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return r, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return r, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return r, err
		}
		key, _ := name.(string)
		if key == "id" || key == "stime" {
			continue
		}
		text := string(value)
		var s string
		if json.Unmarshal(value, &s) == nil {
			text = s
		}
		r.names, r.values = append(r.names, key), append(r.values, clean(text))
	}
	return r, nil
}

func (r resultRow) get(name string) string {
	if i := slices.Index(r.names, name); i >= 0 {
		return r.values[i]
	}
	return ""
}

// nodes is a line for each node.
func (s *testnetScreen) nodes() []string {
	t := &table{head: []string{"  node", "state", "rows in", "rows/s", "stream time", "to partners", "memory"}}
	for i, n := range s.now.Nodes {
		c := plainCells("  "+n.ID, n.State, "", "", "", "", "")
		c[1].tone = stateTone(n.State)
		if n.Answers {
			c[2].text = grouped(n.Rows)
			if rate, known := s.rates[n.ID]; known {
				c[3].text = grouped(uint64(rate))
			}
			c[4].text, c[6].text = clockTime(n.High), megabytes(n.MemoryBytes)
			c[5].text = grouped(n.Sent)
			if i == 0 {
				c[5].text = "-"
			}
		}
		t.add(c...)
	}
	t.alignRight(2, 3, 5, 6)
	return t.lines(s.palette)
}

func stateTone(state string) tone {
	switch state {
	case testnet.StateRunning:
		return toneGood
	case testnet.StateKilled, testnet.StateFailed:
		return toneBad
	}
	return toneWarn
}

// clockTime shows a stream time by its clock, with the date only where it has moved past a day would be noise here.
func clockTime(t api.StreamTime) string {
	text := t.String()
	if len(text) >= 19 && text[10] == 'T' {
		return text[11:19]
	}
	return text
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+500_000)/1_000_000) }

// query is what the query has to say.
func (s *testnetScreen) query() []string {
	p := s.palette
	home := "?"
	var received uint64
	if len(s.now.Nodes) > 0 {
		home, received = s.now.Nodes[0].ID, s.now.Nodes[0].Received
	}
	state := "complete to " + clockTime(s.now.Released)
	if s.now.Done {
		state = p.paint(toneGood, "all data are through")
	}
	out := []string{fmt.Sprintf("  %s at %s: %s, %s, took in %s rows", p.paint(toneBold, s.now.Query), home,
		p.paint(toneBold, counted(max(s.results, s.now.Results), "result")), state, grouped(received))}
	for _, f := range s.now.Failures {
		out = append(out, "  "+p.paint(toneBad, firstLine([]byte(f))))
	}
	return out
}

// found lists the last results of each output under a head of its own: outputs have different columns.
func (s *testnetScreen) found() []string {
	if len(s.last) == 0 {
		return []string{s.palette.paint(toneDim, "  no results yet: a window has to end first")}
	}
	if len(s.now.Outputs) < 2 {
		for _, rows := range s.last {
			return s.latest(rows)
		}
	}
	var out []string
	share := max(leastResults, shownResults/len(s.now.Outputs))
	for _, name := range s.now.Outputs {
		rows := s.last[name]
		if out = append(out, s.palette.paint(toneBold, "  "+name)); len(rows) == 0 {
			out = append(out, s.palette.paint(toneDim, "  no results yet"))
			continue
		}
		out = append(out, s.latest(rows[max(0, len(rows)-share):])...)
	}
	return out
}

// latest lists rows of one output, those of the newest window first; a window's time stands at its first row only.
func (s *testnetScreen) latest(rows []resultRow) []string {
	names := slices.DeleteFunc(slices.Clone(rows[len(rows)-1].names), func(n string) bool { return n == "window_end" })
	t := &table{head: slices.Clone(names)}
	t.head[0] = "  " + t.head[0]
	var right []int // columns of numbers
	window := ""
	for _, r := range newestWindowFirst(rows) {
		var cells []cell
		for i, n := range names {
			text := r.get(n)
			if numeric(text) && !slices.Contains(right, i) {
				right = append(right, i)
			}
			if n == "window_start" {
				if text == window {
					text = ""
				} else {
					window = text
					text = shortTime(text)
				}
			}
			cells = append(cells, cell{text: text})
		}
		cells[0].text = "  " + cells[0].text
		if note := s.planted[r.get("src")]; note != "" {
			cells = append(cells, cell{text: note, tone: toneDim})
		}
		t.add(cells...)
	}
	t.alignRight(right...)
	return t.lines(s.palette)
}

// newestWindowFirst orders rows by their windows, the last first, and leaves those of one window as they came.
func newestWindowFirst(rows []resultRow) []resultRow {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b resultRow) int { return strings.Compare(b.get("window_start"), a.get("window_start")) })
	return out
}

// shortTime shows the minute of an RFC 3339 time, or what it was given.
func shortTime(text string) string {
	if len(text) >= 19 && text[10] == 'T' {
		return text[11:16]
	}
	return text
}

func numeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.-") == "" && strings.Count(s, ".") < 2
}

// endpoints says where the nodes can be asked.
func (s *testnetScreen) endpoints() []string {
	t := &table{head: []string{"  node", "API", "directory"}}
	for _, n := range s.now.Nodes {
		t.add(plainCells("  "+n.ID, n.API, n.Dir)...)
	}
	return t.lines(s.palette)
}

// progress is one line about everything, where nothing is redrawn.
func (s *testnetScreen) progress() string {
	var parts []string
	for _, n := range s.now.Nodes {
		if !n.Answers {
			parts = append(parts, n.ID+" "+n.State)
			continue
		}
		part := n.ID + " " + grouped(n.Rows) + " rows"
		if rate, known := s.rates[n.ID]; known {
			part += " (" + grouped(uint64(rate)) + "/s)"
		}
		parts = append(parts, part)
	}
	line := strings.Join(parts, ", ") + ", " + counted(s.results, "result")
	if s.results > 0 {
		line += " to " + clockTime(s.now.Released)
	}
	return line
}

func counted(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// fit cuts a line to a width in characters; escape sequences take none and stay whole.
func fit(line string, width int) string {
	var b strings.Builder
	used, escape := 0, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case used >= width:
			continue
		default:
			used++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// minutes shows a duration as a clock.
func minutes(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
