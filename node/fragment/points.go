package fragment

import (
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/replica"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/storage"
)

// instanceState names the part of a recovery point that holds all operators: the instance addresses them by name itself.
const instanceState = "operators"

// instanceVersion is the version of that part.
const instanceVersion = 1

// Open makes a fragment's parts and restores the newest usable recovery point. It starts nothing.
func Open(cfg Config) (*Runner, error) {
	cfg.complete()
	r := &Runner{cfg: cfg, began: cfg.Clock.Now(), ask: make(chan chan<- Status), states: make(chan chan<- draft), transferred: make(chan transfer, 1), ended: make(chan struct{}), conns: make(map[connKey]*connection), news: newNewsbox()}
	r.status = Status{Name: cfg.Name}
	r.arrivals = make(chan arrival, 4*len(cfg.Plan.Inputs))
	point, passed, err := cfg.Points.LoadPoint(cfg.Name)
	if err != nil {
		return nil, fmt.Errorf("fragment %s: %w", cfg.Name, err)
	}
	for _, p := range passed {
		cfg.Log.Warn("recovery point passed over", zap.String("fragment", cfg.Name), zap.String("why", p))
	}
	if err := r.build(point); err != nil {
		return nil, fmt.Errorf("fragment %s: %w", cfg.Name, errors.Join(err, r.closeOverflows()))
	}
	return r, nil
}

// build makes the parts, from a point or new.
func (r *Runner) build(point *storage.RecoveryPoint) error {
	plan := r.cfg.Plan
	for n, in := range plan.Inputs {
		r.inputs = append(r.inputs, &input{n: n, stream: in.Stream, schema: in.Schema, producers: r.cfg.Producers[in.Stream],
			latest: r.latest(in), durable: tuple.Position{Time: tuple.MinTime}})
	}
	r.counts = make([]outputCounts, len(plan.Outputs))
	if point != nil {
		return r.restore(point)
	}
	for _, o := range plan.Outputs {
		_, overflow, err := r.resume(o, nil)
		if err != nil {
			return fmt.Errorf("output %s: %w", o.Stream, err)
		}
		r.addOutput(o, flow.OutputConfig{Generation: 1, Start: tuple.Position{Generation: 1, Time: tuple.MinTime}, Overflow: overflow})
	}
	core, err := replica.New(r.coreConfig(), 0, r)
	r.core = core
	return err
}

// coreConfig is what the core is told.
func (r *Runner) coreConfig() replica.Config {
	c := replica.Config{Plan: r.cfg.Plan, Settings: r.cfg.Settings, Name: r.cfg.Self, Incarnation: r.cfg.Incarnation, Peers: r.cfg.Peers,
		Places: r.cfg.Places, WaitingRows: r.cfg.WaitingRows, InputBytes: r.cfg.InputBytes, StateBytes: r.cfg.StateBytes, Checksums: r.cfg.Checksums}
	for _, in := range r.inputs {
		source := r.cfg.Plan.Inputs[in.n].Source
		c.Inputs = append(c.Inputs, replica.Input{Producers: in.producers, Preferred: flow.Preferred(in.producers, r.cfg.Self, r.cfg.Subscriber),
			Source: source != nil, Outside: source != nil && !r.ownStream(in.stream)})
	}
	return c
}

// ownStream reports whether a source belongs to the fragment's query: "org/query.stream". Where a fragment is hosted all
// sources are those of other nodes.
func (r *Runner) ownStream(stream string) bool {
	org, query, _ := strings.Cut(r.cfg.Name, "/")
	query, _, _ = strings.Cut(query, "/")
	return strings.HasPrefix(stream, org+"/"+query+".")
}

// latest returns what tells the largest stime that a stream of another organisation may bring, nil if that is not asked:
// our own source proxies have decided it already.
func (r *Runner) latest(in query.FragmentInput) func() tuple.Time {
	if in.Source == nil || in.Source.Rules.MaxFutureSkew == query.Unbounded || r.cfg.Own == "" || strings.HasPrefix(in.Stream, r.cfg.Own) {
		return nil
	}
	ahead := r.cfg.ClockSkew.Microseconds() + in.Source.Rules.MaxFutureSkew
	return func() tuple.Time { return tuple.TimeOf(r.cfg.Clock.Now()).Add(ahead) }
}

func (r *Runner) addOutput(o query.FragmentOutput, cfg flow.OutputConfig) {
	cfg.Name, cfg.Schema, cfg.Limit, cfg.Expected, cfg.Own = o.Stream, o.Schema, r.cfg.OutputBytes, r.cfg.Readers[o.Stream], r.cfg.Own
	readers, known := r.cfg.Readers[o.Stream]
	cfg.Unread = known && len(readers) == 0
	cfg.OverflowBytes, cfg.Partner, cfg.Now = r.cfg.OverflowBytes, r.cfg.Partner, r.cfg.Clock.Now
	cfg.Keep, cfg.GivenUp = r.cfg.Keep, func(upTo tuple.Position) {
		r.cfg.Log.Warn("results that nobody takes are given up: the output is full", zap.String("stream", o.Stream), zap.Stringer("up_to", upTo))
	}
	cfg.Lapsed = func(who string) {
		r.cfg.Log.Warn("subscription of a partner has lapsed: it does not acknowledge", zap.String("stream", o.Stream), zap.String("subscriber", who))
	}
	r.outputs = append(r.outputs, flow.NewOutput(cfg))
}

// restore takes up a recovery point.
func (r *Runner) restore(p *storage.RecoveryPoint) error {
	at, operators, err := r.stateOf(p)
	if err != nil {
		return err
	}
	if at.Outputs, err = r.restoreOutputs(p); err != nil {
		return err
	}
	for _, in := range r.inputs {
		in.durable = at.Covered(r.cfg.Plan, in.n)
	}
	core, report, err := replica.Restore(r.coreConfig(), 0, r, at, operators, query.RestoreOptions{AllowChanged: r.mayChange(p)})
	if err != nil {
		return err
	}
	if len(report.Dropped)+len(report.Fresh) > 0 {
		r.cfg.Log.Warn("operators changed", zap.String("fragment", r.cfg.Name), zap.Strings("dropped", report.Dropped), zap.Strings("fresh", report.Fresh))
	}
	r.core = core
	return nil
}

// stateOf reads what a point holds of the core and of its operators, without the outputs.
func (r *Runner) stateOf(p *storage.RecoveryPoint) (at replica.State, operators []byte, err error) {
	at = replica.State{Boundary: p.Boundary, Inputs: r.positions(p)}
	if operators, err = operatorsOf(p); err != nil {
		return at, nil, err
	}
	if at.Checksums, err = checksumsOf(p); err != nil {
		return at, nil, err
	}
	return at, operators, anewOf(p, &at)
}

// positions returns where each input of each SUnion goes on. An input that the point does not know is new: it counts from
// where the others are, since nothing may come below the operators' boundary.
func (r *Runner) positions(p *storage.RecoveryPoint) [][]tuple.Position {
	known := make(map[string]tuple.Position, len(p.Inputs))
	for _, in := range p.Inputs {
		known[in.Stream] = in.Position
	}
	var out [][]tuple.Position
	for n, u := range r.cfg.Plan.Unions {
		var at []tuple.Position
		for k, in := range u.Inputs {
			pos, ok := known[r.positionName(n, k)]
			if !ok {
				pos, ok = known[r.inputs[in].stream]
			}
			if !ok {
				pos = tuple.Position{Time: p.Boundary}
			}
			at = append(at, pos)
		}
		out = append(out, at)
	}
	return out
}

// positionName is the name under which a point holds the position of an input of an SUnion: that of the stream where it
// enters first, and with a number where it enters again.
func (r *Runner) positionName(union, input int) string {
	in := r.cfg.Plan.Unions[union].Inputs[input]
	before := 0
	for n, u := range r.cfg.Plan.Unions {
		for k, other := range u.Inputs {
			if n == union && k == input {
				if before == 0 {
					return r.inputs[in].stream
				}
				return fmt.Sprintf("%s#%d", r.inputs[in].stream, before)
			}
			if other == in {
				before++
			}
		}
	}
	return ""
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
func (r *Runner) restoreOutputs(p *storage.RecoveryPoint) (states []replica.OutputState, err error) {
	acked, err := subscribersOf(p)
	if err != nil {
		return nil, err
	}
	starts, err := startsOf(p)
	if err != nil {
		return nil, err
	}
	for _, o := range r.cfg.Plan.Outputs {
		state := outputOf(p, o.Stream)
		held, err := entriesOf(&state, o.Schema)
		if err != nil && r.mayChange(p) {
			// The output has other columns now: what was not acknowledged cannot be given any more, and says so by a new
			// generation.
			r.cfg.Log.Warn("output begins a new generation", zap.String("stream", o.Stream), zap.Error(err))
			state = storage.OutputState{Generation: state.Generation + 1, NextID: 1, Boundary: state.Boundary}
			held, err = nil, nil
			delete(starts, o.Stream)
		}
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", o.Stream, err)
		}
		cfg := flow.OutputConfig{Generation: state.Generation}
		all := held
		if held, cfg.Overflow, err = r.resume(o, all); err != nil {
			return nil, fmt.Errorf("output %s: %w", o.Stream, err)
		}
		cfg.Start, cfg.Lost = startOf(&state, held, starts[o.Stream].past(all[:len(all)-len(held)]))
		states = append(states, replica.OutputState{Generation: state.Generation, Next: state.NextID, Boundary: state.Boundary})
		cfg.Held, cfg.Acked = withBoundary(held, cfg.Start.Generation, state.Boundary), r.stillCounted(o.Stream, acked[o.Stream])
		r.addOutput(o, cfg)
	}
	return states, nil
}

// outputOf returns what a point holds of an output; one that it does not know has given nothing.
func outputOf(p *storage.RecoveryPoint, stream string) storage.OutputState {
	for _, s := range p.Outputs {
		if s.Stream == stream {
			return s
		}
	}
	return storage.OutputState{Stream: stream, Generation: 1, NextID: 1, Boundary: tuple.MinTime}
}

// entriesOf reads what a point holds of an output's unacknowledged frames.
func entriesOf(s *storage.OutputState, schema *tuple.Schema) ([]dcaa.Held, error) {
	held := make([]dcaa.Held, 0, len(s.Unacked)+1)
	for _, u := range s.Unacked {
		h, err := decodeHeld(u.Frame, schema)
		if err != nil {
			return nil, err
		}
		held = append(held, h)
	}
	return held, nil
}

// draft is a recovery point whose output frames have yet to be encoded. Frames do not change, and many megabytes of them
// may wait for a consumer that is away: they are encoded beside the run loop.
type draft struct {
	point   *storage.RecoveryPoint
	readers []readers // of each of point.Outputs
}

// complete encodes the frames and returns the point. It is called once, from any goroutine.
func (d draft) complete() *storage.RecoveryPoint {
	for n := range d.readers {
		state := &d.point.Outputs[n]
		for _, h := range d.readers[n].held {
			switch f := h.Frame; {
			case h.Away.Record != 0:
				state.Unacked = append(state.Unacked, storage.Unacked{FirstID: f.FirstID, LastID: f.LastID, Frame: encodeAway(h)})
			case f.Kind == tuple.Insertion:
				state.Unacked = append(state.Unacked, storage.Unacked{FirstID: f.FirstID, LastID: f.LastID, Frame: encodeFrame(f)})
			case f.Kind == tuple.Gap:
				state.Unacked = append(state.Unacked, storage.Unacked{FirstID: f.FirstID, LastID: f.FirstID, Frame: encodeGap(f)})
			}
		}
	}
	d.point.Operators = append(d.point.Operators,
		storage.OperatorState{Name: subscribersState, Version: subscribersVersion, Snapshot: encodeSubscribers(d.readers)},
		storage.OperatorState{Name: startsState, Version: startsVersion, Snapshot: encodeStarts(d.readers)})
	return d.point
}

// portable returns the draft without what lies on this node's disk, and what is before it: another replica begins behind.
func (d draft) portable() draft {
	for n := range d.readers {
		r := &d.readers[n]
		there := behind(r.held, func(h dcaa.Held) bool { return h.Away.Record != 0 })
		r.start = r.start.past(r.held[:len(r.held)-len(there)])
		r.held = there
	}
	return d
}

// behind returns the entries behind the last one of which so is true. A GAP that leads from there to another generation goes
// with it: who is in the generation before would be led past what is missing, and is told that it is gone instead.
func behind(held []dcaa.Held, so func(dcaa.Held) bool) []dcaa.Held {
	for n := len(held); n > 0; n-- {
		if !so(held[n-1]) {
			continue
		}
		last := held[n-1].Frame
		for n < len(held) && held[n].Frame.Kind == tuple.Gap && held[n].Frame.Generation > last.Generation {
			n++
		}
		return held[n:]
	}
	return held
}

// snapshot takes a recovery point of the present state. It is called between buckets.
func (r *Runner) snapshot() draft {
	var e tuple.Encoder
	at := r.core.Snapshot(&e)
	return r.draft(&at, e.B, r.readers())
}

// draft is the recovery point of a state, of which the outputs hold the frames.
func (r *Runner) draft(at *replica.State, operators []byte, readers []readers) draft {
	p := &storage.RecoveryPoint{Fragment: r.cfg.Name, Epoch: r.cfg.Epoch, Boundary: at.Boundary}
	d := draft{point: p, readers: readers}
	p.Operators = []storage.OperatorState{{Name: instanceState, Version: instanceVersion, Snapshot: operators}}
	for n, u := range r.cfg.Plan.Unions {
		for k := range u.Inputs {
			p.Inputs = append(p.Inputs, storage.InputPosition{Stream: r.positionName(n, k), Position: at.Inputs[n][k]})
		}
	}
	for n, o := range r.outputs {
		s := at.Outputs[n]
		p.Outputs = append(p.Outputs, storage.OutputState{Stream: o.Name(), Generation: s.Generation, NextID: s.Next, Boundary: s.Boundary})
	}
	if len(at.Checksums) > 0 {
		p.Operators = append(p.Operators, storage.OperatorState{Name: checksumsState, Version: checksumsVersion, Snapshot: encodeChecksums(at.Checksums)})
	}
	if len(at.Anew) > 0 {
		p.Operators = append(p.Operators, storage.OperatorState{Name: anewState, Version: anewVersion, Snapshot: encodeAnew(at)})
	}
	return d
}

// acknowledge tells upstream what a durable point covers.
func (r *Runner) acknowledge(p *storage.RecoveryPoint) {
	at := replica.State{Boundary: p.Boundary, Inputs: r.positions(p)}
	for _, in := range r.inputs {
		in.durable = at.Covered(r.cfg.Plan, in.n)
		r.cfg.Network.Ack(in.stream, r.cfg.Subscriber, in.producers, in.durable)
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

// PackPoint encodes a point for another replica.
func (s Store) PackPoint(p *storage.RecoveryPoint) ([]byte, error) { return s.Points.Pack(p) }

// UnpackPoint reads a point of another replica.
func (s Store) UnpackPoint(fragment string, b []byte) (*storage.RecoveryPoint, error) {
	return s.Points.Unpack(fragment, b)
}
