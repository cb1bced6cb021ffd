package fragment

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/replica"
	"fednode/query/tuple"
)

// Runner runs one replica of a fragment.
type Runner struct {
	// Fixed after Open.
	cfg       Config
	outputs   []*flow.Output
	overflows []*overflow // of outputs, by index; none if nothing is put on disk
	began     time.Time   // the instant 0

	// Owned by the run loop.
	core   *replica.Replica
	inputs []*input
	conns  map[connKey]*connection
	news   *newsbox
	// ctx of the connections; the loop sets it before the first event.
	ctx     context.Context
	pullers sync.WaitGroup
	// fetching: the state of another replica is on its way; taking: it is about to be what the next life begins with.
	fetching, taking bool
	counts           []outputCounts
	work             workload

	// arrivals brings what the connections have got.
	arrivals chan arrival
	// packs are what other replicas are given of the state.
	packs packs

	// ask brings requests for the status to the loop, states requests of other replicas for the state. transferred brings
	// what has come of a request to another one. ended is closed when the loop has.
	ask         chan chan<- Status
	states      chan chan<- draft
	transferred chan transfer
	ended       chan struct{}

	mu     sync.Mutex
	status Status // the last one that the loop gave
}

var (
	_ replica.Shell      = (*Runner)(nil)
	_ replica.Transferer = (*Runner)(nil)
	_ replica.Relied     = (*Runner)(nil)
)

// Outputs returns the streams that the fragment produces. They can be opened at once and are closed when Run returns.
func (r *Runner) Outputs() []*flow.Output { return r.outputs }

// Run runs the fragment until ctx ends, and then stores a last recovery point. It fails if an operator does: a broken
// limit is an *query.OperatorError around an *op.LimitError.
func (r *Runner) Run(ctx context.Context) error {
	defer func() {
		for _, o := range r.outputs {
			o.Close()
		}
	}()
	defer close(r.ended)
	defer func() {
		if err := r.closeOverflows(); err != nil {
			r.cfg.Log.Warn("what an output has put on disk was not closed", zap.String("fragment", r.cfg.Name), zap.Error(err))
		}
	}()
	connections, stop := context.WithCancel(ctx)
	defer r.pullers.Wait()
	defer stop()
	r.ctx = connections
	for n := range r.overflows {
		r.pullers.Go(func() { r.spill(connections, r.outputs[n]) })
	}
	unwatch := r.cfg.Network.Watch(r.names(), r.news.Note)
	defer unwatch()
	err := newLoop(r).run(ctx)
	if err != nil {
		r.fail(err)
	}
	return err
}

// names are the nodes of which the fragment wants news.
func (r *Runner) names() []string {
	seen := make(map[string]bool)
	var out []string
	add := func(list []string) {
		for _, n := range list {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	for _, in := range r.inputs {
		add(in.producers)
	}
	add(r.cfg.Peers)
	return out
}

// Permission takes a message of another replica about permission to redo. It does not block.
func (r *Runner) Permission(from string, m dcaa.PermissionMessage) { r.news.message(from, m) }

// now is the present instant.
func (r *Runner) now() dcaa.Instant {
	return dcaa.Instant(r.cfg.Clock.Now().Sub(r.began).Microseconds())
}

// Relied reports whether anybody takes tentative results of an output.
func (r *Runner) Relied(output int) bool { return r.outputs[output].Relied() }

// Emit appends a frame to an output.
func (r *Runner) Emit(output int, f *tuple.Frame) {
	c := &r.counts[output]
	switch f.Kind {
	case tuple.Tentative:
		c.tentative += uint64(f.Batch.Rows())
		c.run = f.Run
	case tuple.TentativeBoundary, tuple.Boundary:
		c.delay = dcaa.AgeOf(f).Delay()
		c.delays.add(time.Duration(c.delay) * time.Microsecond)
	case tuple.Undo, tuple.RecDone:
		c.run = tuple.Run{}
	case tuple.Gap:
		r.cfg.Log.Warn("input has a gap", zap.String("fragment", r.cfg.Name), zap.String("output", r.outputs[output].Name()), zap.String("reason", f.Reason))
	}
	r.outputs[output].Append(f)
}

// outputCounts are figures of one output for the status.
type outputCounts struct {
	tentative uint64
	delay     int64 // of the last boundary, in microseconds
	run       tuple.Run
	since     time.Time // of the present state
	redo      time.Duration
	delays    Delays
}

// Tell sends a message about permission.
func (r *Runner) Tell(peer string, m dcaa.PermissionMessage) {
	r.cfg.Network.Tell(peer, r.cfg.Name, m)
}

// Changed logs a change of state, once.
func (r *Runner) Changed(c replica.Change) {
	now := r.cfg.Clock.Now()
	fields := []zap.Field{zap.String("fragment", r.cfg.Name), zap.Stringer("from", c.From), zap.Stringer("to", c.To)}
	for _, o := range c.Outputs {
		n := &r.counts[o]
		if c.From == c.To {
			break
		}
		if c.From == dcaa.Stabilization {
			n.redo = now.Sub(n.since)
		}
		n.since = now
	}
	for _, m := range c.Missing {
		fields = append(fields, zap.String("missing", m.Stream))
	}
	if c.Tentative > 0 {
		fields = append(fields, zap.Uint64("tentative_rows", c.Tentative))
	}
	if c.Cause != nil {
		r.cfg.Log.Warn("tentative results are undone", append(fields, zap.Error(c.Cause))...)
		return
	}
	if c.To == dcaa.UpstreamFailure && c.Lost && len(c.Missing) == 0 {
		r.cfg.Log.Warn("results are tentative: rows are lost, and results are best effort", fields...)
		return
	}
	if c.To == dcaa.UpstreamFailure {
		r.cfg.Log.Warn("results are tentative: an input is missing", fields...)
		return
	}
	r.cfg.Log.Info("state of results", fields...)
}

// Renewed logs what has come of it that corrections had stopped half way.
func (r *Runner) Renewed(x replica.Renewal) {
	fields := []zap.Field{zap.String("fragment", r.cfg.Name), zap.Int("rows", x.Rows)}
	for _, o := range x.Outputs {
		fields = append(fields, zap.String("stream", r.outputs[o].Name()))
	}
	if x.Cause != nil {
		r.cfg.Log.Warn("tentative results go on without what has been corrected", append(fields, zap.Error(x.Cause))...)
		return
	}
	r.cfg.Log.Info("tentative results build on what has been corrected", fields...)
}

// full returns a channel that is closed when room may have been made, nil if no output is full.
func (r *Runner) full() <-chan struct{} {
	for _, o := range r.outputs {
		if full, changed := o.Full(); full {
			return changed
		}
	}
	return nil
}

func (r *Runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Failure = err.Error()
}
