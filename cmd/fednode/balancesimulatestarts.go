package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fednode/mpa/balance"
	"fednode/mpa/balance/sim"
)

// balanceStarts is what random starts came to under one migrator.
type balanceStarts struct {
	migrator balance.Migrator
	list     []sim.Start
}

// starting makes runs from random loads.
func (s *balanceFlags) starting(c *cobra.Command, settings []balance.Config, problems []error) error {
	spec := sim.Starts{Count: s.starts, Rounds: s.rounds, Seed: s.seed}
	low, high, ranged := strings.Cut(s.nodes, "-")
	if !ranged {
		high = low
	}
	var errs [2]error
	spec.MinNodes, errs[0] = strconv.Atoi(low)
	spec.MaxNodes, errs[1] = strconv.Atoi(high)
	if errs[0] != nil || errs[1] != nil {
		problems = append(problems, fmt.Errorf("--nodes %s: a number such as 10, or two such as 3-50, is expected", s.nodes))
		spec.MinNodes, spec.MaxNodes = 2, 2 // so that what else is wrong is found too
	}
	if len(s.unit) == 1 {
		spec.Unit = s.unit[0]
	} else {
		problems = append(problems, fmt.Errorf("--unit: one size is expected with --starts, got %d", len(s.unit)))
		spec.Unit = 5
	}
	for _, name := range []string{"capacity", "unreachable", "fail", "vary", "noise"} {
		if c.Flags().Changed(name) {
			problems = append(problems, fmt.Errorf("--%s goes with --usage, not with --starts", name))
		}
	}
	problems = append(problems, spec.Validate())
	for i := range settings {
		problems = append(problems, settings[i].Validate())
	}
	if err := wrongAll(problems); err != nil {
		return err
	}
	var all []balanceStarts
	for _, cfg := range settings {
		list, err := spec.Run(cfg, stopOf(c))
		if err != nil {
			return err
		}
		if c.Context().Err() != nil {
			return context.Cause(c.Context())
		}
		all = append(all, balanceStarts{cfg.Migrator, list})
	}
	if err := s.draw(c, startPlots(all), func() balancePage { return startPage(all) }); err != nil {
		return err
	}
	return showStarts(c, all, s.seed)
}

// balanceStartSum is the JSON of all starts of one migrator. Spreads are means, in percentage points.
type balanceStartSum struct {
	Migrator string `json:"migrator"`
	Starts   int    `json:"starts"`
	// AtRest is how many came to rest within the rounds, RestAfter after how many rounds at most, and on average.
	AtRest        int              `json:"at_rest"`
	RestAfterMax  int              `json:"rest_after_max"`
	RestAfterMean float64          `json:"rest_after_mean"`
	Moves         int              `json:"moves"`
	Least         int              `json:"least_moves"`
	Impossible    int              `json:"impossible"`
	Before        balanceSpread    `json:"before"`
	After         balanceSpread    `json:"after"`
	Seed          uint64           `json:"seed"`
	Each          []balanceStarted `json:"each"`
}

type balanceSpread struct {
	Range     float64 `json:"range"`
	Deviation float64 `json:"deviation"`
}

type balanceStarted struct {
	Nodes     int           `json:"nodes"`
	RestAfter *int          `json:"rest_after"`
	Moves     int           `json:"moves"`
	Least     *int          `json:"least_moves"`
	Before    balanceSpread `json:"before"`
	After     balanceSpread `json:"after"`
}

// sum adds starts up. Moves and the least possible are of those starts that moves can bring to rest at all.
func (b *balanceStarts) sum(seed uint64) balanceStartSum {
	t := balanceStartSum{Migrator: b.migrator.String(), Starts: len(b.list), Seed: seed}
	n := float64(len(b.list))
	for i := range b.list {
		o := &b.list[i]
		one := balanceStarted{Nodes: o.Nodes, RestAfter: rested(o.RestAfter), Moves: o.Moves, Before: balanceSpread(o.Before), After: balanceSpread(o.After)}
		if o.RestAfter >= 0 {
			t.AtRest++
			t.RestAfterMax = max(t.RestAfterMax, o.RestAfter)
			t.RestAfterMean += float64(o.RestAfter)
		}
		if o.Possible {
			one.Least = &o.Least
			t.Moves += o.Moves
			t.Least += o.Least
		} else {
			t.Impossible++
		}
		t.Before.Range, t.Before.Deviation = t.Before.Range+o.Before.Range/n, t.Before.Deviation+o.Before.Deviation/n
		t.After.Range, t.After.Deviation = t.After.Range+o.After.Range/n, t.After.Deviation+o.After.Deviation/n
		t.Each = append(t.Each, one)
	}
	t.RestAfterMean /= float64(max(1, t.AtRest))
	return t
}

// rested is a round for JSON: null if it is not known to be the last in which something moves.
func rested(round int) *int {
	if round < 0 {
		return nil
	}
	return &round
}

func showStarts(c *cobra.Command, all []balanceStarts, seed uint64) error {
	sums := make([]balanceStartSum, len(all))
	for i := range all {
		sums[i] = all[i].sum(seed)
	}
	if jsonWanted(c) {
		return printJSON(c, map[string]any{"starts": sums})
	}
	t := &table{head: []string{"migrator", "starts", "at rest", "rounds until rest", "moves", "least possible", "range before", "after", "deviation before", "after"}}
	for _, s := range sums {
		t.add(plainCells(startCells(s)...)...)
	}
	t.alignRight(1, 2, 3, 4, 5, 6, 7, 8, 9)
	t.print(c.OutOrStdout())
	for _, s := range sums {
		if s.Impossible > 0 {
			fmt.Fprintf(c.OutOrStdout(), "%s: of %s no move can bring to rest what is asked for; their moves are left out.\n", s.Migrator, plural(s.Impossible, "start"))
		}
	}
	return nil
}

// startCells are the figures of a migrator's starts, for a table.
func startCells(s balanceStartSum) []string {
	return []string{s.Migrator, fmt.Sprint(s.Starts), fmt.Sprint(s.AtRest), fmt.Sprintf("%.2f, at most %d", s.RestAfterMean, s.RestAfterMax),
		grouped(uint64(s.Moves)), grouped(uint64(s.Least)), fmt.Sprintf("%.1f", s.Before.Range), fmt.Sprintf("%.1f", s.After.Range),
		fmt.Sprintf("%.1f", s.Before.Deviation), fmt.Sprintf("%.1f", s.After.Deviation)}
}

// drawing draws nodes by weight.
func (s *balanceFlags) drawing(c *cobra.Command, problems []error) error {
	d, err := sim.Draw(s.weights, s.draws, s.seed)
	if s.html != "" || s.plots != "" {
		problems = append(problems, fmt.Errorf("--html and --plots go with --usage and --starts, not with --weights"))
	}
	if err := wrongAll(append(problems, err)); err != nil {
		return err
	}
	if jsonWanted(c) {
		return printJSON(c, map[string]any{"weights": s.weights, "draws": s.draws, "chosen": d.Chosen, "expected": d.Expected,
			"chi_square": d.ChiSquare, "degrees_of_freedom": d.Degrees, "seed": s.seed})
	}
	t := &table{head: []string{"node", "weight", "chosen", "in proportion"}}
	for i, w := range s.weights {
		t.add(plainCells(fmt.Sprint(i), fmt.Sprintf("%g", w), grouped(uint64(d.Chosen[i])), fmt.Sprintf("%.1f", d.Expected[i]))...)
	}
	t.alignRight(1, 2, 3)
	t.print(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "\nchi-square %.2f, %s of freedom, seed %d\n", d.ChiSquare, plural(d.Degrees, "degree"), s.seed)
	return nil
}
