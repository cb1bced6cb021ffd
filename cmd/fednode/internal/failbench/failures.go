package failbench

import (
	"context"
	"fmt"
	"time"

	"fednode/testnet"
)

// do has a fault done.
func (b *bench) do(ctx context.Context, words ...string) error {
	f, err := testnet.ParseFault(words)
	if err == nil {
		_, err = b.net.Apply(ctx, f)
	}
	return err
}

// killed measures how long there are no new results when a replica's process ends: its connections are reset.
func (b *bench) killed(ctx context.Context) (Measure, error) {
	m := Measure{Name: "a replica is killed: longest time without results", Target: killedTarget,
		Bound: "what a new subscription takes, and the bucket that was under way"}
	return m, b.replicas(ctx, &m, func(ctx context.Context, node string) error {
		return b.do(ctx, testnet.FaultKill, node)
	}, func(ctx context.Context, node string) error {
		return b.do(ctx, testnet.FaultRestart, node)
	})
}

// silent measures the same for a process that stands still, whose connections stay open. It never goes on, but is killed and
// started anew: nodes have more patience for a while with one whose silence turned out to be no death.
func (b *bench) silent(ctx context.Context) (Measure, error) {
	m := Measure{Name: "a replica's machine is silent: longest time without results", Target: heartbeat*(miss+1) + bucket + boundary + 2*b.rtt,
		Bound: "heartbeats: silence is found out after three of them are missing"}
	return m, b.replicas(ctx, &m, func(ctx context.Context, node string) error {
		return b.do(ctx, testnet.FaultStop, node)
	}, func(ctx context.Context, node string) error {
		for _, step := range []string{testnet.FaultKill, testnet.FaultHeal, testnet.FaultRestart} {
			if err := b.do(ctx, step, node); err != nil {
				return err
			}
		}
		return nil
	})
}

// replicas takes each replica away in turn and gives it back; the longer of both times counts.
func (b *bench) replicas(ctx context.Context, m *Measure, away, back func(ctx context.Context, node string) error) error {
	for run := range b.Runs {
		longest := time.Duration(0)
		for _, node := range b.cores {
			if err := b.settled(ctx); err != nil {
				return err
			}
			b.results.reset()
			began := time.Now()
			if err := away(ctx, node); err != nil {
				return err
			}
			if err := pause(ctx, after); err != nil {
				return err
			}
			rows, tentative := b.results.seen()
			gap := longestGap(rows, began, began.Add(after))
			longest = max(longest, gap)
			m.Tentative += tentative
			b.Say(fmt.Sprintf("%s, run %d of %d, %s: %d ms", m.Name, run+1, b.Runs, node, gap.Milliseconds()))
			if err := back(ctx, node); err != nil {
				return err
			}
		}
		m.Values = append(m.Values, longest)
	}
	return nil
}

// cut measures how many rows are tentative when an organisation is cut off for just less than its inputs are waited for.
// The time without results is shown, and has no target: it is that of the cut.
func (b *bench) cut(ctx context.Context) (Measure, error) {
	m := Measure{Name: fmt.Sprintf("an organisation is cut off for %s: tentative rows", cutFor), Bound: "the hold time, and how soon a connection goes on after a cut"}
	for run := range b.Runs {
		if err := b.settled(ctx); err != nil {
			return m, err
		}
		b.results.reset()
		began := time.Now()
		if err := b.do(ctx, testnet.FaultPartition, "south", "for", cutFor.String()); err != nil {
			return m, err
		}
		if err := pause(ctx, cutFor+after); err != nil {
			return m, err
		}
		rows, tentative := b.results.seen()
		m.Values = append(m.Values, longestGap(rows, began, began.Add(cutFor+after)))
		m.Tentative += tentative
		b.Say(fmt.Sprintf("%s, run %d of %d: %d", m.Name, run+1, b.Runs, tentative))
	}
	return m, nil
}
