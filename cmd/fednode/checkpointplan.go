package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"fednode/storage/plan"
)

// checkpointSchedule is a schedule as JSON, with what the model says of it; null where it says nothing.
type checkpointSchedule struct {
	Interval      float64   `json:"interval_s"`
	Probabilities []float64 `json:"probabilities,omitempty"`
	Utilization   *float64  `json:"utilization"`
}

// checkpointPlan is the answer of checkpoint plan.
type checkpointPlan struct {
	Interval      float64            `json:"interval_s"`
	Probabilities []float64          `json:"probabilities"`
	Utilization   *float64           `json:"utilization"`
	SingleLevel   checkpointSchedule `json:"single_level"`
	Approximation checkpointSchedule `json:"approximation"`
	ModelValid    bool               `json:"model_valid"`
	ModelBias     *float64           `json:"model_bias"`
	Notes         []string           `json:"notes,omitempty"`
}

func runCheckpointPlan(c *cobra.Command, in checkpointInput) error {
	best, err := plan.Optimise(in.system, plan.Fixed{})
	if err != nil {
		return planError(err)
	}
	model, err := plan.NewModel(in.system)
	if err != nil {
		return planError(err)
	}
	single, err := plan.SingleLevel(in.system)
	if err != nil {
		return planError(err)
	}
	near, err := plan.Approximate(in.system)
	if err != nil {
		return planError(err)
	}
	if err := writePlots(in.plots, planPlots(in.system, best)); err != nil {
		return err
	}
	all := [3]plan.Plan{best, {Schedule: near, Point: model.At(near)}, {Schedule: single, Point: model.At(single)}}
	if jsonWanted(c) {
		return printJSON(c, planJSON(in.system, all))
	}
	printPlan(c.OutOrStdout(), in.system, all)
	return nil
}

// planError gives errors of a plan their exit codes: that nothing can be planned is an answer, a wrong value is not.
func planError(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*plan.KeepUpError)) {
		return err
	}
	return &codeError{code: exitWrong, err: err}
}

// planJSON puts the plan, its approximation and the single level into one document.
func planJSON(s plan.System, all [3]plan.Plan) checkpointPlan {
	best, near, single := &all[0], &all[1], &all[2]
	return checkpointPlan{
		Interval: float64(best.Interval), Probabilities: best.Probabilities, Utilization: number(best.Utilization),
		SingleLevel:   checkpointSchedule{Interval: float64(single.Interval), Utilization: number(single.Utilization)},
		Approximation: checkpointSchedule{Interval: float64(near.Interval), Probabilities: near.Probabilities, Utilization: number(near.Utilization)},
		ModelValid:    best.Valid(), ModelBias: number(best.Bias), Notes: planNotes(s, *best),
	}
}

// number returns what JSON can write: nil for no number.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// printPlan prints the three schedules, and what the plan means for each level.
func printPlan(w io.Writer, s plan.System, all [3]plan.Plan) {
	t := table{head: []string{"", "INTERVAL"}}
	for i := range s.Levels {
		t.head = append(t.head, fmt.Sprintf("LEVEL %d", i+1))
	}
	t.head = append(t.head, "UTILIZATION")
	for i, p := range all {
		name := [...]string{"best", "approximation", "highest level alone"}[i]
		row := plainCells(name, secondsFigure(float64(p.Interval)))
		for _, v := range p.Probabilities {
			row = append(row, cell{text: probabilityText(v)})
		}
		t.add(append(row, cell{text: utilizationText(p.Utilization)})...)
	}
	for i := range t.head {
		if i > 0 {
			t.alignRight(i)
		}
	}
	t.print(w)
	fmt.Fprintln(w)
	printLevels(w, s, all[0].Schedule)
	fmt.Fprintln(w, "\n"+modelText(all[0].Point))
	for _, n := range planNotes(s, all[0]) {
		fmt.Fprintln(w, "note: "+n)
	}
}

// planNotes says in words what is not to be seen from the figures.
func planNotes(s plan.System, best plan.Plan) []string {
	notes := s.Unusual()
	least := plan.MinInterval
	for l, p := range best.Probabilities {
		if p > 0 {
			least = max(least, s.Levels[l].Cost)
		}
	}
	if best.Interval <= least {
		notes = append(notes, "the interval is as short as it may be, "+secondsFigure(float64(least))+": it holds each checkpoint that may end it, and is a second or more")
	}
	return notes
}

// printLevels prints what the levels are, and how often the plan takes a checkpoint of each.
func printLevels(w io.Writer, s plan.System, best plan.Schedule) {
	t := table{head: []string{"LEVEL", "FAILURES", "COST", "RESTART", "TAKEN"}}
	for i, l := range s.Levels {
		taken := "never"
		switch p := best.Probabilities[i]; {
		case l.Cost == 0:
			taken = "always there"
		case p > 0:
			taken = "every " + spanText(float64(best.Interval)/p)
		}
		t.add(plainCells(strconv.Itoa(i+1), rateFigure(l.Rate), secondsFigure(float64(l.Cost)), secondsFigure(float64(l.Restart)), taken)...)
	}
	t.print(w)
}

// modelText says whether the figures hold.
func modelText(p plan.Point) string {
	switch {
	case math.IsNaN(p.Utilization):
		return "The model says nothing here: by its count more work is lost than done."
	case !p.Valid():
		return fmt.Sprintf("The model does not hold here: failures come too close for its count of lost checkpoints, and it is about %.3f off (strain %.2f).",
			math.Abs(p.Bias), p.Strain)
	}
	return "The model holds: it is " + offText(p.Bias) + " off."
}

// offText prints a small difference.
func offText(v float64) string {
	if v = math.Abs(v); v < 0.0001 {
		return "less than 0.0001"
	}
	return fmt.Sprintf("about %.4f", v)
}

func secondsFigure(v float64) string { return strconv.FormatFloat(v, 'f', digits(v), 64) + " s" }

// digits is how many decimals show a time to a hundredth of a second, or to three digits if it is short.
func digits(v float64) int {
	if v == 0 || v == math.Trunc(v) && v < 1e6 {
		return 0
	}
	if v < 0.1 {
		return 5
	}
	return 2
}

func rateFigure(r plan.Rate) string {
	return strconv.FormatFloat(float64(r)*86400, 'g', 4, 64) + "/d"
}

func probabilityText(p float64) string {
	switch {
	case p == 0 || p == 1:
		return strconv.FormatFloat(p, 'f', 0, 64)
	case p < 0.001 || p > 0.999:
		return strconv.FormatFloat(p, 'f', 8, 64) // not to show a 0 or a 1 that is none
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

func utilizationText(u float64) string {
	if math.IsNaN(u) {
		return "unknown"
	}
	return strconv.FormatFloat(u, 'f', 4, 64)
}

// spanText prints a time that may be long.
func spanText(s float64) string {
	if s > 100*365*86400 {
		return "century or less often"
	}
	return shortDuration(time.Duration(s * float64(time.Second)))
}
