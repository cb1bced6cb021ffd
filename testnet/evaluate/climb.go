package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
