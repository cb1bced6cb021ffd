package link

import (
	"context"

	"golang.org/x/time/rate"

	"fednode/dcaa"
	"fednode/node/export"
	"fednode/query/tuple"
)

// pace holds what leaves through one export for one organisation to the export's rates, over all its subscriptions.
type pace struct {
	rows  *rate.Limiter // nil without a limit
	bytes *rate.Limiter
}

// paceKey names a pace.
type paceKey struct{ export, org string }

// paceOf returns the pace of an export for an organisation, nil if it has no limit.
func (l *Link) paceOf(x *export.Export, org string) *pace {
	if x.Rate.Rows == 0 && x.Rate.Bytes == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := paceKey{x.Name, org}
	p := l.paces[k]
	if p == nil {
		p = &pace{rows: limiter(x.Rate.Rows), bytes: limiter(x.Rate.Bytes)}
		l.paces[k] = p
	}
	return p
}

// limiter allows a second's worth at once.
func limiter(perSec float64) *rate.Limiter {
	if perSec == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSec), max(1, int(perSec)))
}

// wait holds a frame until it may leave. Frames without rows always may.
func (p *pace) wait(ctx context.Context, f *tuple.Frame) error {
	if p == nil || f.Batch == nil {
		return nil
	}
	if err := waitN(ctx, p.rows, f.Batch.Rows()); err != nil {
		return err
	}
	return waitN(ctx, p.bytes, int(dcaa.FrameBytes(f)))
}

// waitN takes n in steps that the limiter's burst allows.
func waitN(ctx context.Context, l *rate.Limiter, n int) error {
	for l != nil && n > 0 {
		step := min(n, l.Burst())
		if err := l.WaitN(ctx, step); err != nil {
			return err
		}
		n -= step
	}
	return nil
}
