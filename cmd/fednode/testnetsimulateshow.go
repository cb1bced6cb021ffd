package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fednode/query/tuple"
	"fednode/testnet/sim"
)

// simulateShow shows how far a campaign is: one line that is redrawn on a terminal, else one now and then.
type simulateShow struct {
	c     *cobra.Command
	out   io.Writer
	live  bool
	runs  int
	began time.Time
	said  time.Time
}

func newSimulateShow(c *cobra.Command, runs int) *simulateShow {
	now := time.Now()
	return &simulateShow{c: c, out: c.ErrOrStderr(), live: canRedraw(c.ErrOrStderr()), runs: runs, began: now, said: now}
}

// progress takes how far the campaign has come.
func (s *simulateShow) progress(p sim.Progress) {
	pause := plainPause
	if s.live {
		pause = lookPause
	}
	if time.Since(s.said) < pause {
		return
	}
	s.said = time.Now()
	line := fmt.Sprintf("%s of %s runs, %s simulated a second", grouped(uint64(p.Runs)), grouped(uint64(s.runs)), s.speedText(p))
	if p.Failures > 0 {
		line += ", " + counted(uint64(p.Failures), "failure")
	}
	if s.live {
		fmt.Fprintf(s.out, "\r%s\x1b[K", line)
		return
	}
	fmt.Fprintln(s.out, line)
}

// broke says at once which seed breaks a promise, so that a long campaign that is ended early has not lost it.
func (s *simulateShow) broke(f *sim.Failure) {
	s.clear()
	fmt.Fprintf(s.out, "seed %d: %s\n", f.Case.Seed, &f.Breach)
}

// clear takes the line of a terminal away.
func (s *simulateShow) clear() {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// speed is in simulated minutes a second.
func (s *simulateShow) speed(p sim.Progress) float64 {
	return float64(p.Simulated) / float64(tuple.Minute) / time.Since(s.began).Seconds()
}

// speedText says how much is simulated a second.
func (s *simulateShow) speedText(p sim.Progress) string {
	return shortDuration(time.Duration(s.speed(p) * float64(time.Minute)))
}

// simulateSum is what a campaign showed, as JSON. Times are in seconds.
type simulateSum struct {
	Runs             int               `json:"runs"`
	Seconds          float64           `json:"seconds"`
	Simulated        float64           `json:"simulated"`
	MinutesPerSecond float64           `json:"minutes_per_second"`
	Events           uint64            `json:"events"`
	StableRows       uint64            `json:"stable_rows"`
	TentativeRows    uint64            `json:"tentative_rows"`
	LongestDelay     float64           `json:"longest_delay"`
	LongestSettling  float64           `json:"longest_settling"`
	Transitions      map[string]uint64 `json:"transitions"`
	Faults           map[string]uint64 `json:"faults"`
	NeverSeen        []string          `json:"never_seen"`
}

func seconds(us int64) float64 { return float64(us) / 1e6 }

// sum says what was shown.
func (s *simulateShow) sum(p sim.Progress) error {
	sum := simulateSum{Runs: p.Runs, Seconds: time.Since(s.began).Seconds(), Simulated: seconds(p.Simulated), MinutesPerSecond: s.speed(p),
		Events: p.Steps, StableRows: p.Rows, TentativeRows: p.Tentative, LongestDelay: seconds(p.Worst), LongestSettling: seconds(p.Settled),
		Transitions: p.Coverage.TransitionCounts(), Faults: p.Coverage.FaultCounts(), NeverSeen: p.Coverage.Missing()}
	if jsonWanted(s.c) {
		return printJSON(s.c, sum)
	}
	w := s.c.OutOrStdout()
	fmt.Fprintf(w, "%s without a broken promise: %s simulated in %s, %s a second\n", counted(uint64(sum.Runs), "run"),
		shortDuration(time.Duration(p.Simulated)*time.Microsecond), shortDuration(time.Since(s.began)), s.speedText(p))
	fmt.Fprintf(w, "%s, %s stable and %s tentative\n", counted(sum.Events, "event"), counted(sum.StableRows, "row"), grouped(sum.TentativeRows))
	fmt.Fprintf(w, "longest delay on a healthy path %.2f s; stable at most %.1f s after the last fault\n", sum.LongestDelay, sum.LongestSettling)
	for _, list := range []struct {
		name   string
		counts map[string]uint64
	}{{"changes of state", sum.Transitions}, {"faults", sum.Faults}} {
		lines := countLines(list.counts)
		if len(lines) == 0 {
			fmt.Fprintf(w, "%s: none\n", list.name)
			continue
		}
		fmt.Fprintf(w, "%s:\n", list.name)
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}
	return nil
}

// countLines prints counts, largest first, as lines of a table.
func countLines(counts map[string]uint64) []string {
	var names []string
	for name, n := range counts {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if counts[a] != counts[b] {
			if counts[a] > counts[b] {
				return -1
			}
			return 1
		}
		if a < b {
			return -1
		}
		return 1
	})
	t := &table{}
	for _, name := range names {
		t.add(cell{"  " + name, toneNone}, cell{grouped(counts[name]), toneNone})
	}
	t.alignRight(1)
	return t.lines(palette{})
}
