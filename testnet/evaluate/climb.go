package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"fednode/testnet"
)

// ladder are the rates that are tried, in rows a second of each of three sources: from that of the grid to eight times 100 times it.
func ladder() []int {
	return []int{processRate, 50_000, processRateMany, 300_000, 450_000, 600_000, 1_200_000}
}

const (
	// rateWarm passes after a rate has been set, before it is measured for rateFor.
	rateWarm = 2 * time.Second
	rateFor  = 6 * time.Second
	// recoverWithin is how long a federation may take to catch up after a rate that it did not hold, at the lowest one.
	recoverWithin = 15 * time.Second
	// halvings is how often the middle between what is held and what is not is tried.
	halvings = 2
)

// climb runs the federation of a setup and raises the rate of its sources until one is not held; then it halves the distance
// between that and the last. It returns what came of each.
func (p *Processes) climb(ctx context.Context, s setup) (list []Rate, err error) {
	dir, err := os.MkdirTemp("", "fednode-evaluate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeFiles(dir, climbing(s)); err != nil {
		return nil, err
	}
	spec, err := testnet.ReadSpec(filepath.Join(dir, "net.toml"))
	if err != nil {
		return nil, err
	}
	p.say(s.name + ", more and more rows without failure")
	net, err := testnet.Up(ctx, spec, testnet.Options{Dir: filepath.Join(dir, "net"), Command: p.Command})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	c := &climber{net: net, setup: s, say: p.say}
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer stop()
	follower.Go(func() { c.late.follow(following, net) })
	if err = c.run(ctx); err != nil {
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	return c.list, err
}

// climbing is what a setup runs when its rate is raised: as few rows are results at low rates as at high ones.
func climbing(s setup) cut { return cut{setup: s, rate: processRate, pair: delayProcess, few: true} }

// climber raises the rate of a federation.
type climber struct {
	net   *testnet.Net
	setup setup
	say   func(string)
	late  lateness
	list  []Rate
}

func (c *climber) run(ctx context.Context) error {
	held := 0
	for _, rate := range ladder() {
		r, err := c.try(ctx, rate)
		if err != nil {
			return err
		}
		if !r.Held {
			return c.narrow(ctx, held, rate)
		}
		held = rate
	}
	return nil
}

// narrow looks between a rate that was held, if any was, and one that was not.
func (c *climber) narrow(ctx context.Context, held, over int) error {
	for n := 0; n < halvings && held > 0; n++ {
		if !c.list[len(c.list)-1].Held {
			if ok, err := c.recovered(ctx); err != nil || !ok {
				return err
			}
		}
		middle := (held + over) / 2
		r, err := c.try(ctx, middle)
		if err != nil {
			return err
		}
		if r.Held {
			held = middle
		} else {
			over = middle
		}
	}
	return nil
}

// try measures one rate.
func (c *climber) try(ctx context.Context, rate int) (*Rate, error) {
	if err := c.net.SetLive(rate); err != nil {
		return nil, err
	}
	if err := sleep(ctx, rateWarm); err != nil {
		return nil, err
	}
	first := look(ctx, c.net)
	c.late.reset(first.at)
	if err := sleep(ctx, rateFor); err != nil {
		return nil, err
	}
	second := look(ctx, c.net)
	r := between(first, second)
	r.Setup, r.Nodes, r.Replicas, r.Asked = c.setup.name, c.setup.nodes, c.setup.replicas, rate
	delay, growth := c.late.seen(second.at)
	r.Delay, r.Growth = Micros(delay.Microseconds()), Micros(growth.Microseconds())
	r.judge()
	c.say(r.String())
	c.list = append(c.list, r)
	return &r, nil
}

// recovered lets the federation catch up at the lowest rate, and reports whether it has.
func (c *climber) recovered(ctx context.Context) (bool, error) {
	if err := c.net.SetLive(ladder()[0]); err != nil {
		return false, err
	}
	for began := time.Now(); time.Since(began) < recoverWithin; {
		c.late.reset(time.Now())
		if err := sleep(ctx, time.Second); err != nil {
			return false, err
		}
		if delay, _ := c.late.seen(time.Now()); Micros(delay.Microseconds()) <= Micros(bound) {
			return true, nil
		}
	}
	return false, nil
}

// glance is what a federation has done so far.
type glance struct {
	at           time.Time
	rows         uint64
	written      int64
	own, machine float64 // processor time, in seconds
	daemons      []sight
}

// sight is what one daemon has.
type sight struct {
	name      string
	feeds     bool
	cpu       float64
	fragments []string
	worked    map[string]float64
}

func look(ctx context.Context, net *testnet.Net) (g glance) {
	v := net.View(ctx)
	g.at, g.own, g.machine, g.written = time.Now(), ownProcessorTime(), busyProcessors(), net.Written()
	for i := range v.Nodes {
		n := &v.Nodes[i]
		g.rows += n.Rows
		s := sight{name: n.ID, feeds: n.Rows > 0, cpu: n.CPUSeconds, worked: make(map[string]float64)}
		if n.Status != nil {
			for _, q := range n.Status.Queries {
				for _, f := range q.Fragments {
					s.fragments = append(s.fragments, f.Name)
					s.worked[f.Name] = f.Worked
				}
			}
		}
		g.daemons = append(g.daemons, s)
	}
	return g
}

// between returns what was done from one glance to the next.
func between(a, b glance) Rate {
	seconds := b.at.Sub(a.at).Seconds()
	rows := float64(b.rows) - float64(a.rows)
	r := Rate{All: runtime.NumCPU(), Written: int(float64(b.written-a.written) / seconds / sources), Taken: int(rows / seconds / sources),
		Testnet: (b.own - a.own) / seconds, Machine: (b.machine - a.machine) / seconds}
	perRow := func(cpus float64) float64 {
		if rows <= 0 {
			return 0
		}
		return 1e6 * cpus * seconds / rows
	}
	for i := range b.daemons {
		was, is := &a.daemons[i], &b.daemons[i]
		d := Daemon{Name: is.name, CPUs: (is.cpu - was.cpu) / seconds, Fragments: []Working{}}
		d.PerRow = perRow(d.CPUs)
		for _, f := range is.fragments {
			d.Fragments = append(d.Fragments, Working{Name: f, Share: (is.worked[f] - was.worked[f]) / seconds})
		}
		if is.feeds {
			r.Sources += d.CPUs
		} else {
			r.Others += d.CPUs
		}
		r.Daemons = append(r.Daemons, d)
	}
	r.PerRow = perRow(r.Used())
	return r
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
