package fragment

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"fednode/node/flow"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/sunion"
)

// instanceState names the part of a recovery point that holds all operators: the instance addresses them by name itself.
const instanceState = "operators"

// instanceVersion is the version of that part.
const instanceVersion = 1

// Open makes a fragment's parts and restores the newest usable recovery point. It starts nothing.
func Open(cfg Config) (*Runner, error) {
	cfg.complete()
	r := &Runner{cfg: cfg, released: tuple.MinTime, ask: make(chan chan<- Status)}
	r.status = Status{Name: cfg.Name}
	point, passed, err := cfg.Points.LoadPoint(cfg.Name)
	if err != nil {
		return nil, fmt.Errorf("fragment %s: %w", cfg.Name, err)
	}
	for _, p := range passed {
		cfg.Log.Warn("recovery point passed over", zap.String("fragment", cfg.Name), zap.String("why", p))
	}
	if err := r.build(point); err != nil {
		return nil, fmt.Errorf("fragment %s: %w", cfg.Name, err)
	}
	return r, nil
}

// build makes the parts, from a point or new.
func (r *Runner) build(point *storage.RecoveryPoint) error {
	plan := r.cfg.Plan
	if err := r.buildUnions(); err != nil {
		return err
	}
	if point == nil {
		r.inst = query.NewInstance(plan, out{r})
		for _, o := range plan.Outputs {
			r.numbers = append(r.numbers, sunion.NewSOutput(1))
			r.addOutput(o, flow.OutputConfig{Generation: 1, Start: tuple.Position{Generation: 1, Time: tuple.MinTime}})
		}
	} else if err := r.restore(point); err != nil {
		return err
	}
	r.arrivals = make(chan arrival, 4*len(plan.Inputs))
	for n, in := range plan.Inputs {
		r.addInput(n, in)
	}
	return nil
}

// buildUnions makes the SUnions and finds out which inputs enter them.
func (r *Runner) buildUnions() error {
	plan := r.cfg.Plan
	r.feeds = make([][]feed, len(plan.Inputs))
	r.start = make([]tuple.Position, len(plan.Inputs))
	for n := range r.start {
		r.start[n].Time = tuple.MinTime
	}
	for n, u := range plan.Unions {
		su, err := sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: plan.Bucket, Unordered: u.Unordered})
		if err != nil {
			return err
		}
		r.unions = append(r.unions, su)
		for k, in := range u.Inputs {
			r.feeds[in] = append(r.feeds[in], feed{union: n, input: k})
		}
	}
	return nil
}

func (r *Runner) addOutput(o query.FragmentOutput, cfg flow.OutputConfig) {
	cfg.Name, cfg.Schema, cfg.Limit, cfg.Expected, cfg.Own = o.Stream, o.Schema, r.cfg.OutputBytes, r.cfg.Readers[o.Stream], r.cfg.Own
	readers, known := r.cfg.Readers[o.Stream]
	cfg.Unread = known && len(readers) == 0
	cfg.Lapsed = func(who string) {
		r.cfg.Log.Warn("subscription of a partner has lapsed: it does not acknowledge", zap.String("stream", o.Stream), zap.String("subscriber", who))
	}
	r.outputs = append(r.outputs, flow.NewOutput(cfg))
}

// restore takes up a recovery point.
func (r *Runner) restore(p *storage.RecoveryPoint) error {
	state, err := operatorsOf(p)
	if err != nil {
		return err
	}
	d := tuple.NewDecoder(state)
	inst, report, err := query.RestoreInstance(r.cfg.Plan, out{r}, d, query.RestoreOptions{AllowChanged: r.mayChange(p)})
	if err != nil {
		return err
	}
	if len(report.Dropped)+len(report.Fresh) > 0 {
		r.cfg.Log.Warn("operators changed", zap.String("fragment", r.cfg.Name), zap.Strings("dropped", report.Dropped), zap.Strings("fresh", report.Fresh))
	}
	r.inst, r.released = inst, p.Boundary
	for n := range r.start {
		// An input that the point does not know is new: it counts from where the others are, since nothing may come below
		// the operators' boundary.
		r.resume(n, tuple.Position{Time: p.Boundary})
	}
	for _, in := range p.Inputs {
		for n := range r.cfg.Plan.Inputs {
			if r.cfg.Plan.Inputs[n].Stream != in.Stream {
				continue
			}
			r.resume(n, in.Position)
		}
	}
	return r.restoreOutputs(p)
}

// resume lets an input begin at a position.
func (r *Runner) resume(n int, at tuple.Position) {
	r.start[n] = at
	for _, f := range r.feeds[n] {
		r.unions[f.union].Resume(f.input, at)
	}
}

// mayChange reports whether operators may differ from those of a point: the query has been replaced since.
func (r *Runner) mayChange(p *storage.RecoveryPoint) bool {
	return r.cfg.AllowChanged || p.Epoch < r.cfg.Epoch
}

func operatorsOf(p *storage.RecoveryPoint) ([]byte, error) {
	if state := part(p, instanceState, instanceVersion); state != nil {
		return state, nil
	}
	return nil, fmt.Errorf("recovery point without operators of version %d: %w", instanceVersion, storage.ErrDamaged)
}

// restoreOutputs goes on with each output where the point was cut; an output that the point does not know is new.
func (r *Runner) restoreOutputs(p *storage.RecoveryPoint) error {
	acked, err := subscribersOf(p)
	if err != nil {
		return err
	}
	for _, o := range r.cfg.Plan.Outputs {
		state := storage.OutputState{Generation: 1, NextID: 1, Boundary: tuple.MinTime}
		for _, s := range p.Outputs {
			if s.Stream == o.Stream {
				state = s
			}
		}
		frames, err := heldFrames(&state, o.Schema)
		if err != nil && r.mayChange(p) {
			// The output has other columns now: what was not acknowledged cannot be given any more, and says so by a new
			// generation.
			r.cfg.Log.Warn("output begins a new generation", zap.String("stream", o.Stream), zap.Error(err))
			state = storage.OutputState{Generation: state.Generation + 1, NextID: 1, Boundary: state.Boundary}
			frames, err = nil, nil
		}
		if err != nil {
			return fmt.Errorf("output %s: %w", o.Stream, err)
		}
		start := tuple.Position{Generation: state.Generation, ID: state.NextID - 1, Time: tuple.MinTime}
		if len(frames) > 0 {
			start.ID = before(frames[0])
		}
		r.numbers = append(r.numbers, sunion.RestoreSOutput(sunion.OutputState{Generation: state.Generation, Next: state.NextID, Boundary: state.Boundary}))
		frames = withBoundary(frames, state.Generation, state.Boundary)
		r.addOutput(o, flow.OutputConfig{Generation: state.Generation, Start: start, Unacknowledged: frames, Acked: r.stillCounted(o.Stream, acked[o.Stream])})
	}
	return nil
}

// heldFrames reads the frames that a point holds of an output.
func heldFrames(s *storage.OutputState, schema *tuple.Schema) ([]*tuple.Frame, error) {
	frames := make([]*tuple.Frame, 0, len(s.Unacked)+1)
	for _, u := range s.Unacked {
		f, err := decodeFrame(u.Frame, schema)
		if err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return frames, nil
}

// snapshot takes a recovery point of the present state. It is called between buckets.
func (r *Runner) snapshot() *storage.RecoveryPoint {
	p := &storage.RecoveryPoint{Fragment: r.cfg.Name, Epoch: r.cfg.Epoch, Boundary: r.released}
	var e tuple.Encoder
	r.inst.Snapshot(&e)
	p.Operators = []storage.OperatorState{{Name: instanceState, Version: instanceVersion, Snapshot: e.B}}
	for n, in := range r.cfg.Plan.Inputs {
		f := r.feeds[n][0]
		p.Inputs = append(p.Inputs, storage.InputPosition{Stream: in.Stream, Position: r.unions[f.union].Position(f.input)})
	}
	for n, o := range r.outputs {
		s := r.numbers[n].State()
		state := storage.OutputState{Stream: o.Name(), Generation: s.Generation, NextID: s.Next, Boundary: s.Boundary}
		_, frames := o.Unacknowledged()
		for _, f := range frames {
			switch f.Kind {
			case tuple.Insertion:
				state.Unacked = append(state.Unacked, storage.Unacked{FirstID: f.FirstID, LastID: f.LastID, Frame: encodeFrame(f)})
			case tuple.Gap:
				state.Unacked = append(state.Unacked, storage.Unacked{FirstID: f.FirstID, LastID: f.FirstID, Frame: encodeGap(f)})
			}
		}
		p.Outputs = append(p.Outputs, state)
	}
	p.Operators = append(p.Operators, storage.OperatorState{Name: subscribersState, Version: subscribersVersion, Snapshot: encodeSubscribers(r.outputs)})
	return p
}

// acknowledge tells upstream what a durable point covers.
func (r *Runner) acknowledge(p *storage.RecoveryPoint) {
	for n, in := range p.Inputs {
		r.inputs[n].inlet.Ack(in.Position)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.PointAt, r.status.PointBoundary = r.cfg.Clock.Now(), p.Boundary
}

// Store is a Points over the store's recovery points.
type Store struct{ Points *storage.RecoveryPoints }

// LoadPoint returns the newest usable point.
func (s Store) LoadPoint(fragment string) (*storage.RecoveryPoint, []string, error) {
	p, report, err := s.Points.Load(fragment)
	var passed []string
	for _, r := range report.Rejected {
		passed = append(passed, fmt.Sprintf("point %d: %v", r.Number, r.Err))
	}
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil, nil
	}
	return p, passed, err
}

// SavePoint stores a point.
func (s Store) SavePoint(p *storage.RecoveryPoint) error { return s.Points.Save(p, nil) }
