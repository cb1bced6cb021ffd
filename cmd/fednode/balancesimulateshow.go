package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fednode/mpa/balance/sim"
)

// balanceMoved, balanceRound and balanceSum are the JSON of a run. Usage is in percent.
type balanceMoved struct {
	From   int     `json:"from"`
	To     int     `json:"to"`
	Usage  float64 `json:"usage"`
	Failed bool    `json:"failed,omitempty"`
	Why    string  `json:"why"`
}

type balanceRound struct {
	Usage []float64      `json:"usage"`
	Moved []balanceMoved `json:"moved"`
	Kept  []string       `json:"kept,omitempty"`
}

type balanceSum struct {
	Migrator string         `json:"migrator"`
	Initial  []float64      `json:"initial"`
	Rounds   []balanceRound `json:"rounds"`
	// RestAfter is null if something moved in the last round.
	RestAfter *int `json:"rest_after"`
	Moves     int  `json:"moves"`
	// MovesPerHour, Mean and Unmoved are there if loads vary: means over rounds, and what they would be had nothing moved.
	MovesPerHour *float64       `json:"moves_per_hour,omitempty"`
	Mean         *balanceSpread `json:"mean,omitempty"`
	Unmoved      *balanceSpread `json:"unmoved,omitempty"`
	Final        balanceSpread  `json:"final"`
	Seed         uint64         `json:"seed"`
}

// perHour is how many moves an hour a run made.
func (d *balanceDone) perHour(period time.Duration) float64 {
	return float64(d.Moves) / (float64(len(d.Rounds)) * period.Hours())
}

func (d *balanceDone) sum(period time.Duration) balanceSum {
	s := balanceSum{Migrator: d.cfg.Balance.Migrator.String(), Initial: d.Initial, RestAfter: rested(d.RestAfter), Moves: d.Moves,
		Final: balanceSpread(d.Spread(len(d.Rounds), false)), Seed: d.cfg.Seed}
	for i := range d.Rounds {
		r := balanceRound{Usage: d.Rounds[i].Usage, Moved: []balanceMoved{}, Kept: d.Rounds[i].Kept}
		for _, m := range d.Rounds[i].Moved {
			r.Moved = append(r.Moved, balanceMoved(m))
		}
		s.Rounds = append(s.Rounds, r)
	}
	if d.cfg.Vary.Varies() {
		rate := d.perHour(period)
		balanced, still := d.Mean()
		s.MovesPerHour, s.Mean, s.Unmoved = &rate, (*balanceSpread)(&balanced), (*balanceSpread)(&still)
	}
	return s
}

// showRuns prints runs: one document of a run, or of a list of runs.
func (s *balanceFlags) showRuns(c *cobra.Command, done []balanceDone) error {
	if jsonWanted(c) {
		if len(done) == 1 {
			return printJSON(c, done[0].sum(s.period))
		}
		list := make([]balanceSum, len(done))
		for i := range done {
			list[i] = done[i].sum(s.period)
		}
		return printJSON(c, map[string]any{"runs": list})
	}
	busy := done[0].cfg.Vary.Varies() && s.rounds > mostRows // every round differs, and what they come to is the point
	if len(done) == 1 && len(s.usage) <= mostColumns && !busy {
		showRounds(c, &done[0])
		fmt.Fprintln(c.OutOrStdout())
	}
	if s.reasons {
		for i := range done {
			showReasons(c, &done[i])
		}
	}
	s.showSum(c, done)
	return nil
}

// mostColumns and mostRows bound the table of a run's rounds.
const (
	mostColumns = 12
	mostRows    = 30
)

// showRounds prints what nodes are at after each round; rounds in which nothing changes are left out.
func showRounds(c *cobra.Command, d *balanceDone) {
	t := &table{head: []string{"round"}}
	for i := range d.Initial {
		t.head = append(t.head, fmt.Sprintf("node %d", i))
	}
	t.head = append(t.head, "moves")
	row := func(name string, usage []float64, moves string) {
		cells := []string{name}
		for _, v := range usage {
			cells = append(cells, fmt.Sprintf("%.4g %%", v))
		}
		t.add(plainCells(append(cells, moves)...)...)
	}
	row("start", d.Initial, "")
	last, left := d.Initial, 0
	for i := range d.Rounds {
		r := &d.Rounds[i]
		if slices.Equal(r.Usage, last) && len(r.Moved) == 0 {
			continue
		}
		last = r.Usage
		if len(t.rows) > mostRows {
			left++
			continue
		}
		row(fmt.Sprint(i+1), r.Usage, grouped(uint64(len(r.Moved))))
	}
	columns := make([]int, len(d.Initial)+1)
	for i := range columns {
		columns[i] = i + 1
	}
	t.alignRight(columns...)
	t.print(c.OutOrStdout())
	if left > 0 {
		fmt.Fprintf(c.OutOrStdout(), "and %s more\n", plural(left, "round"))
	}
}

// showReasons prints every decision, under the round in which it was made.
func showReasons(c *cobra.Command, d *balanceDone) {
	fmt.Fprintf(c.OutOrStdout(), "%s:\n", d.cfg.Balance.Migrator)
	for i := range d.Rounds {
		for _, line := range roundLines(&d.Rounds[i]) {
			fmt.Fprintf(c.OutOrStdout(), "  round %d: %s\n", i+1, line)
		}
	}
	fmt.Fprintln(c.OutOrStdout())
}

// showSum prints one line for each run.
func (s *balanceFlags) showSum(c *cobra.Command, done []balanceDone) {
	t := &table{head: runHead(done)}
	for i := range done {
		t.add(plainCells(runCells(&done[i], s.period)...)...)
	}
	columns := make([]int, len(t.head)-1)
	for i := range columns {
		columns[i] = i + 1
	}
	t.alignRight(columns...)
	t.print(c.OutOrStdout())
}

// runHead is the head of a table of runs; where loads vary there is no rest, and means count.
func runHead(done []balanceDone) []string {
	if done[0].cfg.Vary.Varies() {
		return []string{"migrator", "rounds", "moves", "an hour", "mean range", "unmoved", "mean deviation", "unmoved"}
	}
	return []string{"migrator", "at rest after round", "moves", "range before", "after", "deviation before", "after"}
}

func runCells(d *balanceDone, period time.Duration) []string {
	name, moves := d.cfg.Balance.Migrator.String(), grouped(uint64(d.Moves))
	point := func(v float64) string { return fmt.Sprintf("%.1f", v) }
	if d.cfg.Vary.Varies() {
		a, b := d.Mean()
		return []string{name, grouped(uint64(len(d.Rounds))), moves, fmt.Sprintf("%.2f", d.perHour(period)), point(a.Range), point(b.Range), point(a.Deviation), point(b.Deviation)}
	}
	rest := "not at rest"
	if d.RestAfter >= 0 {
		rest = fmt.Sprint(d.RestAfter)
	}
	before, after := d.Spread(0, false), d.Spread(len(d.Rounds), false)
	return []string{name, rest, moves, point(before.Range), point(after.Range), point(before.Deviation), point(after.Deviation)}
}

// roundLines are the decisions of a round, one a line.
func roundLines(r *sim.Round) []string {
	var list []string
	for _, m := range r.Moved {
		list = append(list, m.Why)
	}
	return append(list, r.Kept...)
}
