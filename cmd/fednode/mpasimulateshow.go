package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"fednode/mpa"
	"fednode/mpa/sim"
)

// mpaShow shows how far the runs are: one line that is redrawn on a terminal, else one now and then.
type mpaShow struct {
	c     *cobra.Command
	out   io.Writer
	live  bool
	runs  int
	said  time.Time
	began time.Time
}

func (s *mpaShow) progress(run int, duration int64, p sim.Sample) {
	pause := plainPause
	if s.live {
		pause = lookPause
	}
	if time.Since(s.said) < pause {
		return
	}
	s.said = time.Now()
	line := fmt.Sprintf("run %d of %d: %d of %d s, %s overloaded, excess %.3f %%, %s", run+1, s.runs, p.At/1e6, duration/1e6,
		grouped(uint64(p.Overloaded)), 100*p.Excess, counted(uint64(p.Moves), "move"))
	if s.live {
		fmt.Fprintf(s.out, "\r%s\x1b[K", line)
		return
	}
	fmt.Fprintln(s.out, line)
}

func (s *mpaShow) clear() {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// mpaObserver passes on what a run tells.
type mpaObserver struct {
	sim.Silent
	show     *mpaShow
	at       int
	duration int64
	ctx      context.Context
	trace    *mpaTrace
}

func (o *mpaObserver) Began(b sim.Beginning) {
	if o.trace != nil {
		o.trace.began(b)
	}
}

func (o *mpaObserver) Moved(m sim.Move) {
	if o.trace != nil {
		o.trace.moved(m)
	}
}

func (o *mpaObserver) Sampled(s sim.Sample) { o.show.progress(o.at, o.duration, s) }
func (o *mpaObserver) Stop() bool           { return o.ctx.Err() != nil }

// mpaDone is a run and what it came to.
type mpaDone struct {
	mpaRun
	*sim.Result
	took       time.Duration
	comparison *sim.Comparison // nil if nothing was compared
}

// mpaState, mpaSocial and mpaSum are the JSON of a run. Loads are in units of a node's full speed, shares from 0 to 1.
type mpaState struct {
	Overloaded int     `json:"overloaded"`
	Excess     float64 `json:"excess"`
	Acceptable *bool   `json:"acceptable,omitempty"`
}

type mpaSocial struct {
	Initial float64 `json:"initial"`
	Final   float64 `json:"final"`
	Optimum float64 `json:"optimum"`
}

type mpaSum struct {
	Nodes      int       `json:"nodes"`
	Graph      string    `json:"graph"`
	Contracts  int       `json:"contracts"`
	Edges      int       `json:"contracts_total"`
	Load       float64   `json:"load"`
	PriceRange float64   `json:"price_range"`
	TotalLoad  float64   `json:"total_load"`
	Capacity   float64   `json:"capacity"`
	Initial    mpaState  `json:"initial"`
	Final      mpaState  `json:"final"`
	Moves      int       `json:"moves"`
	Returns    int       `json:"returns"`
	Messages   int       `json:"messages"`
	LastMove   float64   `json:"last_move_s"`
	Simulated  float64   `json:"simulated_s"`
	SocialCost mpaSocial `json:"social_cost"`
	Seed       uint64    `json:"seed"`
	// Wall is how long the run took here; PeakMemory what the process has needed at most until now, in bytes.
	Wall       float64 `json:"wall_s"`
	PeakMemory uint64  `json:"peak_memory_bytes"`
	// Arrangements are there if they were asked for.
	Arrangements []arrangement `json:"arrangements,omitempty"`
}

func (d *mpaDone) sum() mpaSum {
	return mpaSum{
		Nodes: d.Nodes, Graph: d.graph, Contracts: d.cfg.Contracts, Edges: d.Edges, Load: d.cfg.Load, PriceRange: d.cfg.Range,
		TotalLoad: d.TotalLoad, Capacity: d.Capacity, Initial: mpaState{d.Initial.Overloaded, d.Initial.Excess, nil},
		Final: mpaState{d.Final.Overloaded, d.Final.Excess, &d.Acceptable}, Moves: d.Moves, Returns: d.Returns, Messages: d.Messages,
		LastMove: inSeconds(d.LastMove), Simulated: inSeconds(d.End), SocialCost: mpaSocial(d.Social), Seed: d.Seed,
		Wall: d.took.Seconds(), PeakMemory: peakMemory(), Arrangements: d.arrangements(),
	}
}

func inSeconds(t mpa.Instant) float64 { return float64(t) / 1e6 }

// showMPA prints what the runs came to: one document of a run, or of a list of runs.
func showMPA(c *cobra.Command, done []mpaDone) error {
	if jsonWanted(c) {
		if len(done) == 1 {
			return printJSON(c, done[0].sum())
		}
		list := make([]mpaSum, len(done))
		for i := range done {
			list[i] = done[i].sum()
		}
		return printJSON(c, map[string]any{"runs": list})
	}
	if len(done) > 0 && done[0].comparison != nil {
		showArrangements(c, done)
		return nil
	}
	t := &table{head: []string{"graph", "contracts", "load", "range", "seed", "excess before", "after", "overloaded", "moves", "messages", "last move", "acceptable"}}
	for i := range done {
		d := &done[i]
		last := "-"
		if d.Moves > 0 {
			last = fmt.Sprintf("%.1f s", inSeconds(d.LastMove))
		}
		end := cell{text: "yes", tone: toneGood}
		if !d.Acceptable {
			end = cell{text: "no", tone: toneWarn}
		}
		row := plainCells(d.graph, fmt.Sprint(d.cfg.Contracts), fmt.Sprintf("%g %%", 100*d.cfg.Load), fmt.Sprintf("%g %%", 100*d.cfg.Range), fmt.Sprint(d.Seed),
			fmt.Sprintf("%.2f %%", 100*d.Initial.Excess), fmt.Sprintf("%.3f %%", 100*d.Final.Excess), fmt.Sprint(d.Final.Overloaded),
			grouped(uint64(d.Moves)), grouped(uint64(d.Messages)), last)
		t.add(append(row, end)...)
	}
	t.alignRight(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	t.print(c.OutOrStdout())
	took := time.Duration(0)
	for _, d := range done {
		took += d.took
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s in %.1f s, %d MB at most\n", counted(uint64(len(done)), "run"), took.Seconds(), peakMemory()>>20)
	return nil
}

// peakMemory is the most memory that this process has had, in bytes; 0 where the system does not say.
func peakMemory() uint64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return uint64(usage.Maxrss) << 10
}
