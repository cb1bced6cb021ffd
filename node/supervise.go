package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"fednode/node/fragment"
	"fednode/query"
	"fednode/query/op"
)

// supervised is a fragment that is started again when it fails.
type supervised struct {
	mu      sync.Mutex
	runner  *fragment.Runner // nil while it is not running
	failure string
	// next is when it is tried again, the zero time while it runs or will not be.
	next     time.Time
	restarts int
	stopped  bool // a limit stopped it: only a person starts it again
}

// Restart delays: exponential with jitter, and back to the first after a calm stretch.
const (
	restartFirst = time.Second
	restartLast  = time.Minute
	restartCalm  = 2 * time.Minute
)

// superviseFragment runs a fragment until ctx ends. What fails is started again from its recovery point, later and later;
// a broken limit stops it for good, and never the node.
func (d *deployment) superviseFragment(ctx context.Context, f *query.FragmentPlan) {
	s := &supervised{}
	d.mu.Lock()
	d.fragments[f.Name] = s
	d.mu.Unlock()
	d.tasks.Go(func() {
		again := newRestarts(f)
		for ctx.Err() == nil {
			began := time.Now()
			err := d.runFragment(ctx, f, s)
			if err == nil || ctx.Err() != nil {
				return
			}
			delay := again.after(time.Since(began), err)
			if errors.Is(err, fragment.ErrTransferred) {
				d.n.log.Info("fragment goes on with the state of another replica", zap.String("query", d.query), zap.String("fragment", f.Name))
			}
			if delay == 0 {
				continue
			}
			final := errors.As(err, new(*op.LimitError)) || errors.As(err, new(*query.ChangedError))
			pause := time.Duration(float64(delay) * (0.9 + 0.2*rand.Float64()))
			s.failed(err, final, pause)
			d.n.log.Error("fragment failed", zap.String("query", d.query), zap.String("fragment", f.Name), zap.Bool("stopped", final), zap.Duration("again_in", pause), zap.Error(err))
			if final {
				<-ctx.Done()
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	})
}

// runFragment is one life of a fragment. A panic of an operator is an error of that fragment.
func (d *deployment) runFragment(ctx context.Context, f *query.FragmentPlan, s *supervised) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("fragment %s: panic: %v\n%s", f.Name, p, debug.Stack())
		}
	}()
	r, err := fragment.Open(d.fragmentConfig(f))
	if err != nil {
		return err
	}
	for _, o := range r.Outputs() {
		d.n.streams.put(o, d.permitOutput(f, o.Name()))
		defer d.n.streams.drop(o)
	}
	if len(d.hosts[f.Name]) > 1 {
		st := r.State()
		d.n.streams.put(st, d.permitState(f))
		defer d.n.streams.drop(st)
	}
	s.running(r)
	defer s.running(nil)
	return r.Run(ctx)
}

func (s *supervised) running(r *fragment.Runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runner = r
	if r != nil {
		s.next, s.failure = time.Time{}, ""
	}
}

func (s *supervised) failed(err error, final bool, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure, s.stopped = err.Error(), final
	s.restarts++
	if !final {
		s.next = time.Now().Add(pause)
	}
}
