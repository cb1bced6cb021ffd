package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"fednode/storage/plan"
	"fednode/storage/plan/failures"
)

// checkpointSimulation is the answer of checkpoint simulate.
type checkpointSimulation struct {
	Interval      float64              `json:"interval_s"`
	Probabilities []float64            `json:"probabilities"`
	Utilization   simulatedUtilization `json:"utilization"`
	ModelValid    bool                 `json:"model_valid"`
	ModelBias     *float64             `json:"model_bias"`
	Runs          int                  `json:"runs"`
	Seed          uint64               `json:"seed"`
	Duration      float64              `json:"duration_s"`
	Notes         []string             `json:"notes,omitempty"`
}

// simulatedUtilization is the mean over the runs, how far one run lies from it, how far the mean may lie from the truth,
// and what the model says; null where it says nothing.
type simulatedUtilization struct {
	Mean   float64  `json:"mean"`
	StdDev float64  `json:"stddev"`
	StdErr float64  `json:"stderr"`
	Model  *float64 `json:"model"`
}

func runCheckpointSimulate(c *cobra.Command, in checkpointInput) error {
	p, err := plan.Optimise(in.system, in.fixed)
	if err != nil {
		return planError(err)
	}
	r, err := failures.Run(c.Context(), in.system, p.Schedule, in.options)
	if err != nil {
		return simulationError(err)
	}
	if in.plots != "" {
		plots, err := simulationPlots(c.Context(), in, p.Schedule)
		if err != nil {
			return simulationError(err)
		}
		if err := writePlots(in.plots, plots); err != nil {
			return err
		}
	}
	if jsonWanted(c) {
		return printJSON(c, checkpointSimulation{Interval: float64(p.Interval), Probabilities: p.Probabilities,
			Utilization: simulatedUtilization{Mean: r.Mean, StdDev: r.StdDev, StdErr: r.StdErr(), Model: number(p.Utilization)},
			ModelValid:  p.Valid(), ModelBias: number(p.Bias), Runs: r.Runs, Seed: in.options.Seed, Duration: float64(r.Duration), Notes: in.system.Unusual()})
	}
	printSimulation(c.OutOrStdout(), in, p, r)
	return nil
}

// simulationError gives errors of a simulation their exit codes: what ends it ends the command, all else is a wrong value.
func simulationError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return planError(err)
}

func printSimulation(w io.Writer, in checkpointInput, p plan.Plan, r failures.Result) {
	t := table{head: []string{"", "INTERVAL"}}
	row := plainCells("", secondsFigure(float64(p.Interval)))
	for i, v := range p.Probabilities {
		t.head = append(t.head, fmt.Sprintf("LEVEL %d", i+1))
		row = append(row, cell{text: probabilityText(v)})
	}
	t.head, row[0].text = append(t.head, "SIMULATED", "± STDERR", "STDDEV", "MODEL"), "schedule"
	row = append(row, plainCells(utilizationText(r.Mean), fmt.Sprintf("%.5f", r.StdErr()), fmt.Sprintf("%.5f", r.StdDev), utilizationText(p.Utilization))...)
	t.add(row...)
	for i := 1; i < len(t.head); i++ {
		t.alignRight(i)
	}
	t.print(w)
	fmt.Fprintf(w, "\n%s of %s, seed %d. %s\n", plural(r.Runs, "run"), spanText(float64(r.Duration)), in.options.Seed, apartText(p, r))
	for _, n := range in.system.Unusual() {
		fmt.Fprintln(w, "note: "+n)
	}
}

// apartText says how far model and process are apart.
func apartText(p plan.Plan, r failures.Result) string {
	if math.IsNaN(p.Utilization) {
		return modelText(p.Point)
	}
	apart := "Model and simulation are " + offText(p.Utilization-r.Mean) + " apart."
	if !p.Valid() {
		return apart + " " + modelText(p.Point)
	}
	return apart
}
