package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"fednode/testnet"
)

// Rate is what came of one rate of the sources on real daemons, without any failure.
type Rate struct {
	Setup string `json:"setup"`
	// Asked rows a second of each source. Written is what came to be, for what writes the sources is a program of this
	// machine too; Taken is what of it the daemons took in, on average.
	Asked   int `json:"asked"`
	Written int `json:"written"`
	Taken   int `json:"taken"`
	// Delay is the longest from a row's time until the client had it.
	Delay Micros `json:"delay"`
	// Held: nearly all was written, what was written was taken in, and no result was later than X.
	Held bool `json:"held"`
	// Processors that were used: by the daemons where data enter, by all others, by the testnet itself (it writes the
	// sources, carries what daemons say to each other, and follows the results), and by everything on the machine, of All.
	Sources float64 `json:"sources_cpus"`
	Others  float64 `json:"other_daemons_cpus"`
	Testnet float64 `json:"testnet_cpus"`
	Machine float64 `json:"machine_cpus"`
	All     int     `json:"processors"`
}

// String tells the rate for people.
func (r *Rate) String() string {
	held := "held"
	if !r.Held {
		held = fmt.Sprintf("not held, %d written and %d taken in", r.Written, r.Taken)
	}
	return fmt.Sprintf("%s, %d rows/s a stream: %s; longest delay %s; of %d processors sources used %.1f, other daemons %.1f, the testnet %.1f, everything on the machine %.1f",
		r.Setup, r.Asked, held, r.Delay, r.All, r.Sources, r.Others, r.Testnet, r.Machine)
}

// bound says what keeps a higher rate from being held: the processors, if hardly any of their time is left.
func (r *Rate) bound() string {
	if r.Machine < 0.9*float64(r.All) {
		return fmt.Sprintf("not the processors, of which %.1f of %d were in use", r.Machine, r.All)
	}
	own := r.Sources + r.Others + r.Testnet
	text := fmt.Sprintf("the processors: %.1f of %d in use, %.1f of them by the federation", r.Machine, r.All, own)
	if own < 0.75*r.Machine {
		text += ", the rest by other programs"
	}
	return text
}

// ladder are the rates that are tried, in rows a second of each of three sources, up to twice of 100 times those of the grid.
func ladder() []int { return []int{5_000, 15_000, 50_000, 100_000, 150_000, 300_000} }

const (
	// writtenShare is how much of what is asked for has to be written, takenShare how much of that has to be taken in.
	writtenShare = 0.9
	takenShare   = 0.97
	// rateWarm passes before a rate is measured, for rateFor.
	rateWarm = 3 * time.Second
	rateFor  = 10 * time.Second
)

// climb tries one rate after the other until one is not held. It returns what came of each.
func (p *Processes) climb(ctx context.Context, s setup) (list []Rate, err error) {
	for _, rate := range ladder() {
		p.say(fmt.Sprintf("%s, %d rows/s a stream without failure", s.name, rate))
		r, err := p.measureRate(ctx, s, rate)
		if err != nil {
			return list, fmt.Errorf("%s, %d rows/s: %w", s.name, rate, err)
		}
		p.say(r.String())
		if list = append(list, *r); !r.Held {
			break
		}
	}
	return list, nil
}

// highest returns the highest rate that was held; nil if none was.
func highest(list []Rate) (best *Rate) {
	for i := range list {
		if list[i].Held {
			best = &list[i]
		}
	}
	return best
}

// measureRate runs the federation of a setup without a failure.
func (p *Processes) measureRate(ctx context.Context, s setup, rate int) (r *Rate, err error) {
	dir, err := os.MkdirTemp("", "fednode-evaluate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeFiles(dir, cut{setup: s, rate: rate, pair: delayProcess}); err != nil {
		return nil, err
	}
	spec, err := testnet.ReadSpec(filepath.Join(dir, "net.toml"))
	if err != nil {
		return nil, err
	}
	net, err := testnet.Up(ctx, spec, testnet.Options{Dir: filepath.Join(dir, "net"), Command: p.Command})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	return watchRate(ctx, net, s, rate)
}

// watchRate takes two looks at a federation, and follows its results between them.
func watchRate(ctx context.Context, net *testnet.Net, s setup, rate int) (*Rate, error) {
	var late lateness
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer stop()
	follower.Go(func() { late.follow(following, net) })
	if err := sleep(ctx, rateWarm); err != nil {
		return nil, err
	}
	first, machine := look(ctx, net), busyProcessors()
	late.reset()
	if err := sleep(ctx, rateFor); err != nil {
		return nil, err
	}
	second, machineAfter := look(ctx, net), busyProcessors()
	seconds := second.at.Sub(first.at).Seconds()
	r := &Rate{Setup: s.name, Asked: rate, All: runtime.NumCPU(), Delay: Micros(late.longest(time.Now()).Microseconds()),
		Written: int(float64(second.written-first.written) / seconds / s.sources()),
		Taken:   int(float64(second.rows-first.rows) / seconds / s.sources()),
		Sources: (second.sources - first.sources) / seconds, Others: (second.others - first.others) / seconds,
		Testnet: (second.own - first.own) / seconds, Machine: (machineAfter - machine) / seconds}
	r.Held = float64(r.Written) >= writtenShare*float64(rate) && float64(r.Taken) >= takenShare*float64(r.Written) && r.Delay <= Micros(bound)
	return r, nil
}

// glance is what a federation has done so far.
type glance struct {
	at                   time.Time
	rows                 uint64
	written              int64
	sources, others, own float64 // processor time, in seconds
}

func look(ctx context.Context, net *testnet.Net) (g glance) {
	v := net.View(ctx)
	g.at, g.own, g.written = time.Now(), ownProcessorTime(), net.Written()
	for _, n := range v.Nodes {
		g.rows += n.Rows
		if n.Rows > 0 {
			g.sources += n.CPUSeconds
		} else {
			g.others += n.CPUSeconds
		}
	}
	return g
}

// lateness follows the results of a query, and notes how late they are.
type lateness struct {
	mu    sync.Mutex
	worst time.Duration
	high  time.Time
}

// follow follows until ctx ends.
func (l *lateness) follow(ctx context.Context, net *testnet.Net) {
	for ctx.Err() == nil {
		// Why the connection ended does not matter: what is not seen is late.
		_ = net.Follow(ctx, net.Outputs()[0], "now", l.event)
		_ = sleep(ctx, 50*time.Millisecond)
	}
}

func (l *lateness) event(e testnet.Event) error {
	if e.Name != "" && e.Name != "tentative" {
		return nil
	}
	var row struct {
		Stime time.Time `json:"stime"`
	}
	if err := json.Unmarshal(e.Data, &row); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if row.Stime.After(l.high) {
		l.high = row.Stime
		l.worst = max(l.worst, time.Since(row.Stime))
	}
	return nil
}

// reset forgets how late results were.
func (l *lateness) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.worst = 0
}

// longest is the longest delay until now, also of what has not come yet.
func (l *lateness) longest(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.worst, now.Sub(l.high))
}

// sleep waits, less if ctx ends before, whose error it then returns.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ratesText tells what came of the rates of a setup.
func ratesText(list []Rate) string {
	if len(list) == 0 {
		return ""
	}
	lines := make([]string, 0, len(list))
	for i := range list {
		lines = append(lines, list[i].String()+".")
	}
	last := &list[len(list)-1]
	switch best := highest(list); {
	case best == nil:
		lines = append(lines, fmt.Sprintf("%s: no rate was held; what bounds it: %s.", last.Setup, last.bound()))
	case last.Held:
		lines = append(lines, fmt.Sprintf("%s: the highest rate tried was held, %d rows/s a stream.", last.Setup, best.Asked))
	default:
		lines = append(lines, fmt.Sprintf("%s: the highest rate held is %d rows/s a stream; what bounds it at %d: %s.", last.Setup, best.Asked, last.Asked, last.bound()))
	}
	return strings.Join(lines, "\n")
}
