package pipebench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Latency is how long results took from the record that closes their window to the sink.
type Latency struct {
	Windows int
	Median  time.Duration
	Worst   time.Duration
}

// resultWithin is how long a result may take before the measurement gives up.
const resultWithin = 10 * time.Second

// WindowClose measures so many windows, 1 or more; the log and state lie below dir, which is the caller's to remove. The
// closing record brings its boundary along, so that the time is the node's own.
func WindowClose(ctx context.Context, dir string, windows int) (Latency, error) {
	p, err := open(dir)
	if err != nil {
		return Latency{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := p.run(ctx)
	took, err := p.windows(ctx, windows)
	cancel()
	if err = errors.Join(err, ended()); err != nil {
		return Latency{}, fmt.Errorf("pipebench: %w", err)
	}
	slices.Sort(took)
	return Latency{Windows: windows, Median: took[len(took)/2], Worst: took[len(took)-1]}, nil
}

// windows closes one window after another and returns how long each result took. One more goes before them: it waits
// until everything has started.
func (p *pipe) windows(ctx context.Context, n int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, n)
	for window := range n + 1 {
		ctx, cancel := context.WithTimeout(ctx, resultWithin)
		t, err := p.probe.CloseWindow(ctx)
		cancel()
		if err != nil {
			return nil, err
		}
		if window > 0 {
			took = append(took, t)
		}
	}
	return took, nil
}
