package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"fednode/cmd/fednode/internal/chart"
	"fednode/storage/plan"
	"fednode/storage/plan/failures"
)

// plot is a chart with the name of its file.
type plot struct {
	file  string
	chart chart.Chart
}

// writePlots writes charts into a directory, "" for nowhere.
func writePlots(dir string, plots []plot) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range plots {
		if err := os.WriteFile(filepath.Join(dir, plots[i].file), []byte(plots[i].chart.File()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// planPlots are the charts of checkpoint plan.
func planPlots(s plan.System, best plan.Plan) []plot {
	return []plot{{"utilization.svg", utilizationChart(s, best)}, {"probabilities.svg", probabilitiesChart(s)}}
}

// sweep returns n values from lo to hi, each by the same factor more than the one before.
func sweep(lo, hi float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = lo * math.Pow(hi/lo, float64(i)/float64(n-1))
	}
	return out
}

// utilizationChart draws the utilization over the interval: with the best probabilities for each, and with the highest
// level alone.
func utilizationChart(s plan.System, best plan.Plan) chart.Chart {
	model, _ := plan.NewModel(s)
	alone, _ := plan.SingleLevel(s)
	levels := chart.Series{Name: "best share of each level"}
	single := chart.Series{Name: fmt.Sprintf("level %d alone", model.Highest())}
	least := max(plan.MinInterval, s.Levels[model.Highest()-1].Cost)
	for _, t := range sweep(max(float64(least), float64(best.Interval)/8), 8*float64(alone.Interval), 60) {
		interval := plan.Seconds(t)
		if p, err := plan.Optimise(s, plan.Fixed{Interval: interval}); err == nil && !math.IsNaN(p.Utilization) {
			levels.Dots = append(levels.Dots, chart.Dot{X: t, Y: p.Utilization})
		}
		single.Dots = append(single.Dots, chart.Dot{X: t, Y: model.At(plan.Schedule{Interval: interval, Probabilities: alone.Probabilities}).Utilization})
	}
	return chart.Chart{ID: "utilization", Title: "Utilization over the interval", XName: "interval in s", YUnit: "utilization",
		Series: []chart.Series{levels, single}, LogX: true,
		Summary: fmt.Sprintf("highest at %.4g s: %.4f; level %d alone: at %.4g s, %.4f", float64(best.Interval), best.Utilization,
			model.Highest(), float64(alone.Interval), model.At(alone).Utilization)}
}

// probabilitiesChart draws the best probability of each level over the cost of the highest, in costs of the lowest.
func probabilitiesChart(s plan.System) chart.Chart {
	model, _ := plan.NewModel(s)
	low, top := model.Lowest()-1, model.Highest()-1
	c := chart.Chart{ID: "probabilities", Title: fmt.Sprintf("Best probabilities over the cost of level %d", top+1),
		XName: fmt.Sprintf("cost of level %d, in costs of level %d", top+1, low+1), YUnit: "probability", LogX: true, Tight: true}
	for l := low; l <= top; l++ {
		c.Series = append(c.Series, chart.Series{Name: fmt.Sprintf("level %d", l+1)})
	}
	first := float64(s.Levels[low].Cost)
	least := first
	if top > low {
		least = float64(s.Levels[top-1].Cost)
	}
	for _, cost := range sweep(least, 100*least, 41) {
		changed := plan.System{Levels: append([]plan.Level(nil), s.Levels[:top+1]...), PathLength: s.PathLength, HopDelay: s.HopDelay}
		changed.Levels[top].Cost = plan.Seconds(max(cost, least))
		p, err := plan.Optimise(changed, plan.Fixed{})
		if err != nil {
			break // from here on no plan keeps up
		}
		for l := low; l <= top; l++ {
			dots := &c.Series[l-low].Dots
			*dots = append(*dots, chart.Dot{X: cost / first, Y: p.Probabilities[l]})
		}
	}
	return c
}

// plotSteps bounds the simulation of one dot of a chart: intervals and failures a run.
const plotSteps = 100_000

// simulationPlots are the charts of checkpoint simulate: what the model and what the process come to, as one of the two
// parts of the schedule changes.
func simulationPlots(ctx context.Context, in checkpointInput, at plan.Schedule) ([]plot, error) {
	model, err := plan.NewModel(in.system)
	if err != nil {
		return nil, err
	}
	least, top := plan.MinInterval, 0
	for l, p := range at.Probabilities {
		if p > 0 {
			least, top = max(least, in.system.Levels[l].Cost), l
		}
	}
	var byInterval, byShare []plan.Schedule
	var intervals, shares []float64
	for _, t := range sweep(max(float64(least), float64(at.Interval)/4), 4*float64(at.Interval), 12) {
		byInterval, intervals = append(byInterval, plan.Schedule{Interval: plan.Seconds(t), Probabilities: at.Probabilities}), append(intervals, t)
	}
	if share := at.Probabilities[top]; share < 1 {
		for _, p := range sweep(max(share/6, 1e-4), min(1, share*6), 12) {
			byShare, shares = append(byShare, plan.Schedule{Interval: at.Interval, Probabilities: withShare(at.Probabilities, top, p)}), append(shares, p)
		}
	}
	interval := chart.Chart{ID: "interval", Title: "Model and simulation over the interval", XName: "interval in s", YUnit: "utilization", LogX: true}
	if interval.Series, err = bothSides(ctx, in, model, byInterval, intervals); err != nil {
		return nil, err
	}
	plots := []plot{{"interval.svg", interval}}
	if len(shares) == 0 {
		return plots, nil
	}
	share := chart.Chart{ID: "share", Title: fmt.Sprintf("Model and simulation over the share of level %d", top+1),
		XName: fmt.Sprintf("probability of level %d", top+1), YUnit: "utilization", LogX: true}
	if share.Series, err = bothSides(ctx, in, model, byShare, shares); err != nil {
		return nil, err
	}
	return append(plots, plot{"share.svg", share}), nil
}

// withShare gives a level a share, and leaves the rest to the others as it was.
func withShare(p []float64, level int, share float64) []float64 {
	out := make([]float64, len(p))
	for l, v := range p {
		out[l] = v * (1 - share) / (1 - p[level])
	}
	out[level] = share
	return out
}

// bothSides asks the model and the simulation for each schedule.
func bothSides(ctx context.Context, in checkpointInput, model *plan.Model, all []plan.Schedule, xs []float64) ([]chart.Series, error) {
	says, does := chart.Series{Name: "model"}, chart.Series{Name: "simulation"}
	rate := 0.0
	for _, l := range in.system.Levels {
		rate += float64(l.Rate)
	}
	for i, s := range all {
		o := in.options
		if o.Duration == 0 {
			o.Duration = plan.Seconds(plotSteps / (rate + 1/float64(s.Interval)))
		}
		r, err := failures.Run(ctx, in.system, s, o)
		if err != nil {
			return nil, err
		}
		says.Dots = append(says.Dots, chart.Dot{X: xs[i], Y: model.At(s).Utilization})
		does.Dots = append(does.Dots, chart.Dot{X: xs[i], Y: r.Mean})
	}
	return []chart.Series{says, does}, nil
}
