package failbench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fednode/testnet"
)

// settled waits until everything is as it should be: all nodes run and have met, all results are stable, and new ones come.
func (b *bench) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, calmWithin, fmt.Errorf("the federation was not calm within %s", calmWithin))
	defer cancel()
	for since := (time.Time{}); ; {
		v := b.net.View(ctx)
		now := time.Now()
		switch {
		case ctx.Err() == nil && !b.calmNow(&v, now):
			since = time.Time{}
		case since.IsZero():
			since = now
		case now.Sub(since) >= rest:
			return nil
		}
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// calmNow reports whether nothing is the matter.
func (b *bench) calmNow(v *testnet.View, now time.Time) bool {
	outputs := 0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Status == nil || n.Peers < len(v.Nodes)-1 {
			return false
		}
		for _, q := range n.Status.Queries {
			for _, f := range q.Fragments {
				for _, o := range f.Outputs {
					if outputs++; o.State != "stable" {
						return false
					}
				}
			}
		}
	}
	return outputs > 0 && now.Sub(b.results.latest()) < 2*(slack+bucket+boundary)
}

// pause waits, less if ctx ends before, whose cause it then returns.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// roundTrip asks the daemons how far they are from each other: the longest that any of them measured.
func (b *bench) roundTrip(ctx context.Context) (time.Duration, error) {
	longest := time.Duration(0)
	for _, node := range b.net.Nodes() {
		peers, err := b.net.Peers(ctx, node)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", node, err)
		}
		for _, p := range peers {
			longest = max(longest, time.Duration(p.RTT*float64(time.Second)))
		}
	}
	if longest == 0 {
		return 0, errors.New("no node has measured a round trip")
	}
	return longest, nil
}

// calm measures what the chain adds while nothing fails: from when a row is on its source's own stream until it is a
// result, less what the source declares as slack.
func (b *bench) calm(ctx context.Context) ([]Measure, error) {
	most := Measure{Name: "no failure: delay that the chain adds, 99th percentile", Target: bucket + boundary + beyondTicks,
		Bound: "the boundary that completes a row's bucket; then processor time"}
	half := Measure{Name: "no failure: delay that the chain adds, median", Target: most.Target, Bound: most.Bound}
	each := b.Calm / time.Duration(max(1, b.Runs))
	b.Say(fmt.Sprintf("without failure: %d times %s", b.Runs, each))
	for range b.Runs {
		b.results.reset()
		b.source.reset()
		if err := pause(ctx, each); err != nil {
			return nil, err
		}
		entered, _ := b.source.seen()
		rows, tentative := b.results.seen()
		delays := added(entered, rows)
		if len(delays) == 0 {
			return nil, fmt.Errorf("no row came on both streams within %s", each)
		}
		half.Values = append(half.Values, max(0, quantile(delays, 0.5)-slack))
		most.Values = append(most.Values, max(0, quantile(delays, 0.99)-slack))
		most.Tentative += tentative
	}
	var err error
	b.rtt, err = b.roundTrip(ctx)
	return []Measure{half, most}, err
}
