package evaluate

import (
	"fmt"
	"strings"

	"fednode/query/tuple"
)

// Target is what a figure should be, and what it is.
type Target struct {
	Figure   string `json:"figure"`
	Target   string `json:"target"`
	Measured string `json:"measured"`
	Met      bool   `json:"met"`
	// Experiment is the key of the one that measured it.
	Experiment string `json:"experiment"`
}

// rule makes a target out of an experiment's cells.
type rule struct {
	experiment, figure, target string
	judge                      func(x *Experiment) (measured string, met bool)
}

// Targets judges experiments that have run. Those that are not among them are left out.
func Targets(list []*Experiment) []Target {
	var all []Target
	for _, r := range rules() {
		for _, x := range list {
			if x.Key != r.experiment {
				continue
			}
			measured, met := r.judge(x)
			all = append(all, Target{Figure: r.figure, Target: r.target, Measured: measured, Met: met, Experiment: x.Key})
		}
	}
	return append(all, promises(list)...)
}

// Bounds of the targets.
const (
	mostSwitch = Micros(250 * tuple.Millisecond)
	// A silent machine: heartbeat · (miss + 1), bucket, boundary interval and two round trips of 6 ms at most.
	mostSilent = Micros((400 + 100 + 100 + 12) * tuple.Millisecond)
	mostNormal = Micros((100 + 100 + 5) * tuple.Millisecond)
	mostDepth  = Micros(2600 * tuple.Millisecond)
	mostSettle = Micros(1500 * tuple.Millisecond)
	// mostShare is how long corrections may take, by the length of the failure.
	mostShare = 0.15
)

func rules() []rule {
	return []rule{
		{"switch", "a replica's process is killed: longest time without results", "≤ 0.25 s, 0 tentative rows", judgeGap(0, mostSwitch)},
		{"switch", "a replica's machine falls silent: longest time without results", "≤ 0.61 s, 0 tentative rows", judgeGap(1, mostSilent)},
		{"calm", "delay without failure, chains of 1 to 8, 99th percentile", "≤ 0.205 s", judgeNormal},
		{"within-hold", "boundaries back within the hold time, chains of 1 to 8", "0 tentative rows", judgeNoTentative},
		{"link-back", "a link cut and restored within 0.75 X − 0.3 s", "0 tentative rows", judgeNoTentative},
		{"depth", "a source away for 15 s, chains of 1 to 8: longest incremental delay", "≤ 2.6 s at every depth", judgeDepth},
		{"depth", "a source away for 15 s, chains of 1 to 8: corrected after", "≤ 1.5 s", judgeSettle},
		{"loaded", "corrected after F seconds of failure, a tenth of a node's capacity", "≤ 0.15 F for the longest F", judgeShare},
	}
}

// worst returns the largest of a figure, and the number of tentative rows in all cells.
func worst(list []*Cell, of func(*Figures) Micros) (most Micros, at *Cell, tentative int) {
	for _, c := range list {
		if v := of(&c.Figures); at == nil || v > most {
			most, at = v, c
		}
		tentative += c.Tentative
	}
	return most, at, tentative
}

func judgeGap(panel int, most Micros) func(*Experiment) (string, bool) {
	return func(x *Experiment) (string, bool) {
		gap, _, tentative := worst(x.Panels[panel].Cells, func(f *Figures) Micros { return f.Gap })
		return fmt.Sprintf("%v, %d tentative rows", gap, tentative), gap <= most && tentative == 0
	}
}

func judgeNormal(x *Experiment) (string, bool) {
	most, at, _ := worst(x.Panels[0].Cells, func(f *Figures) Micros { return f.Normal99 })
	return fmt.Sprintf("%.3f s, with %s", most.Seconds(), nodes(int(at.X))), most <= mostNormal
}

func judgeNoTentative(x *Experiment) (string, bool) {
	_, _, tentative := worst(x.cells(), func(*Figures) Micros { return 0 })
	return fmt.Sprintf("%d tentative rows in %d runs", tentative, runs(x.cells())), tentative == 0
}

func judgeDepth(x *Experiment) (string, bool) {
	most, at, _ := worst(x.cells(), func(f *Figures) Micros { return f.Incremental })
	return fmt.Sprintf("%v (%s, %s)", most, at.Series, nodes(int(at.X))), most <= mostDepth
}

func judgeSettle(x *Experiment) (string, bool) {
	most, at, _ := worst(x.cells(), func(f *Figures) Micros { return max(f.Corrected, f.Settled) })
	return fmt.Sprintf("%v (%s, %s)", most, at.Series, nodes(int(at.X))), most <= mostSettle
}

// judgeShare judges the longest failures: those that are short hang on times that do not grow.
func judgeShare(x *Experiment) (string, bool) {
	longest := 0.0
	for _, c := range x.cells() {
		longest = max(longest, c.X)
	}
	var parts []string
	met := true
	for _, c := range x.cells() {
		if c.X == longest {
			share := c.Corrected.Seconds() / c.X
			parts = append(parts, fmt.Sprintf("%s: %.3f F", c.Series, share))
			met = met && share <= mostShare
		}
	}
	return fmt.Sprintf("%s (F = %g s)", strings.Join(parts, ", "), longest), met
}

func runs(list []*Cell) int {
	n := 0
	for _, c := range list {
		n += c.Runs
	}
	return n
}

// promises judges what must hold in every run.
func promises(list []*Experiment) []Target {
	var cells []*Cell
	for _, x := range list {
		cells = append(cells, x.cells()...)
	}
	holes, unequal, late := 0, 0, 0
	for _, c := range cells {
		holes += c.Holes
		unequal += c.Unequal
		if c.Incremental > c.Bound {
			late++
		}
	}
	n := runs(cells)
	most, at, _ := worst(cells, func(f *Figures) Micros { return f.Incremental })
	all := []Target{
		{Figure: "a hole in what the client holds", Target: "never", Measured: fmt.Sprintf("%d rows in %d runs", holes, n), Met: holes == 0},
		{Figure: "stable results are those of a run without failures", Target: "in every run", Measured: fmt.Sprintf("%d of %d runs", n-unequal, n), Met: unequal == 0},
	}
	if at != nil {
		all = append(all, Target{Figure: "incremental delay of new rows within X", Target: "in every cell",
			Measured: fmt.Sprintf("%d of %d cells; longest %v", len(cells)-late, len(cells), most), Met: late == 0})
	}
	return all
}
