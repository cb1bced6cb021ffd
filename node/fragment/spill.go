package fragment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query"
)

// spillRetry is how long an output waits after its disk has failed: meanwhile it holds what it may in memory, and then input
// stops.
const spillRetry = time.Second

// resume gives an output the place outside of memory where it may put frames, nil if there is none, and leaves those entries
// of a recovery point that can still be had.
func (r *Runner) resume(out query.FragmentOutput, held []dcaa.Held) ([]dcaa.Held, flow.Overflow, error) {
	if r.cfg.OverflowDir == "" {
		return r.present(out, held, 0), nil, nil
	}
	name := sha256.Sum256([]byte(out.Stream))
	o := newOverflow(&r.cfg, filepath.Join(r.cfg.OverflowDir, hex.EncodeToString(name[:16])), out.Schema)
	first, last := records(held)
	if first == 0 {
		err := o.Clear()
		r.overflows = append(r.overflows, o)
		return held, o, err
	}
	oldest, err := o.Resume(first, last)
	if err != nil {
		return nil, nil, err
	}
	r.overflows = append(r.overflows, o)
	return r.present(out, held, oldest), o, nil
}

// records returns the names of the first and the last record that a recovery point refers to; 0 if to none.
func records(held []dcaa.Held) (first, last uint64) {
	for _, h := range held {
		if h.Away.Record != 0 {
			if first == 0 {
				first = h.Away.Record
			}
			last = h.Away.Record
		}
	}
	return first, last
}

// present returns the entries behind the last one that lies in a record before oldest, in any if that is 0. What all have
// acknowledged is freed without waiting for the next point, and is missed by nobody; of anything else they learn by a gap.
func (r *Runner) present(out query.FragmentOutput, held []dcaa.Held, oldest uint64) []dcaa.Held {
	there := behind(held, func(h dcaa.Held) bool { return h.Away.Record != 0 && (oldest == 0 || h.Away.Record < oldest) })
	if gone := len(held) - len(there); gone > 0 && oldest == 0 {
		r.cfg.Log.Warn("results that had been put on disk are not there any more", zap.String("stream", out.Stream), zap.Uint64("up_to_id", held[gone-1].Frame.LastID))
	}
	return there
}

// spill puts frames of an output on disk when there are too many, until ctx ends.
func (r *Runner) spill(ctx context.Context, o *flow.Output) {
	told := false
	for {
		select {
		case <-o.Overflowing():
		case <-ctx.Done():
			return
		}
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = o.Spill(); err == nil {
				told = false
				continue
			}
			if !told {
				told = true
				r.cfg.Log.Warn("results cannot be put on disk; input stops when the memory is full", zap.String("stream", o.Name()), zap.Error(err))
			}
			select {
			case <-r.cfg.Clock.After(spillRetry):
				more = true
			case <-ctx.Done():
			}
		}
	}
}

func (r *Runner) closeOverflows() error {
	var errs []error
	for _, o := range r.overflows {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}
