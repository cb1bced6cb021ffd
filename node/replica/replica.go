package replica

import (
	"fmt"
	"math"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// OutputState is what a recovery point holds of an output.
type OutputState = sunion.OutputState

// Replica is one replica of a fragment.
type Replica struct {
	cfg        Config
	shell      Shell
	inst       *query.Instance
	inputs     []*input
	unions     []*union
	paths      []*path
	numbers    []*sunion.SOutput
	checks     []outputCheck // by output; nil where none are kept
	silent     []silence     // by output
	began      []beginning   // by output
	beginnings uint64        // so far
	renewals   Renewals
	span       int64 // how far back in the input results depend on it, in microseconds; only of a best-effort query
	permission *dcaa.Permission
	peers      []peer
	now        dcaa.Instant
	// runs counts failures of this incarnation.
	runs uint64
	// kept is how much memory the rows that inputs keep hold.
	kept int64
	// blocked: an output holds as much as it may.
	blocked bool
	// recovering: it was restarted and has not caught up yet.
	recovering bool
	due        dcaa.Instant
	progress   uint64
	// stoodUntil is when the replica last went on after it had stood still for stood microseconds.
	stoodUntil dcaa.Instant
	stood      int64
	lost
}

// peer is another replica of the fragment, as its heartbeats show it.
type peer struct {
	name string
	up   bool
	// downAt is since when it is not, 0 if it has never been.
	downAt dcaa.Instant
	// serves says of each output whether it gives current results, be they tentative; status is what it said last.
	serves []bool
	status []dcaa.StreamStatus
	// emptyUntil: it had no state to give that would help, and is not asked before.
	emptyUntil dcaa.Instant
}

// New returns a replica that has seen nothing.
func New(cfg Config, now dcaa.Instant, shell Shell) (*Replica, error) {
	r, err := build(cfg, now, shell)
	if err != nil {
		return nil, err
	}
	r.inst = query.NewInstance(cfg.Plan, stableOut{r})
	for range cfg.Plan.Outputs {
		r.numbers = append(r.numbers, sunion.NewSOutput(1))
	}
	r.restoreChecks(nil)
	r.begin(nil, now)
	return r, nil
}

// Restore returns a replica that goes on from a recovery point: operators is what Snapshot encoded.
func Restore(cfg Config, now dcaa.Instant, shell Shell, s State, operators []byte, o query.RestoreOptions) (*Replica, query.RestoreReport, error) {
	r, err := build(cfg, now, shell)
	if err != nil {
		return nil, query.RestoreReport{}, err
	}
	inst, report, err := query.RestoreInstance(cfg.Plan, stableOut{r}, tuple.NewDecoder(operators), o)
	if err != nil {
		return nil, report, err
	}
	if len(s.Inputs) != len(cfg.Plan.Unions) || len(s.Outputs) != len(cfg.Plan.Outputs) {
		return nil, report, fmt.Errorf("a recovery point of %d SUnions and %d outputs, the plan has %d and %d", len(s.Inputs), len(s.Outputs), len(cfg.Plan.Unions), len(cfg.Plan.Outputs))
	}
	r.inst, r.recovering = inst, true
	for _, out := range s.Outputs {
		r.numbers = append(r.numbers, sunion.RestoreSOutput(out))
	}
	r.restoreChecks(s.Checksums)
	r.restoreAnew(&s)
	r.begin(s.Inputs, now)
	return r, report, nil
}

// build makes the parts that do not depend on a recovery point.
func build(cfg Config, now dcaa.Instant, shell Shell) (*Replica, error) {
	cfg.complete()
	plan := cfg.Plan
	if len(cfg.Inputs) != len(plan.Inputs) || len(cfg.Places) != len(plan.Unions) {
		return nil, fmt.Errorf("replica: %d inputs and %d places, the plan has %d and %d", len(cfg.Inputs), len(cfg.Places), len(plan.Inputs), len(plan.Unions))
	}
	r := &Replica{cfg: cfg, shell: shell, now: now, due: now, permission: dcaa.NewPermission(cfg.Name, cfg.Incarnation, cfg.Peers),
		silent: make([]silence, len(plan.Outputs)), began: make([]beginning, len(plan.Outputs))}
	if cfg.Settings.Consistency == dcaa.BestEffort {
		span, ok := plan.Span()
		if !ok {
			return nil, fmt.Errorf("replica: fragment %s depends on all of its input, and best effort on a part of it", plan.Name)
		}
		r.span = span
	}
	for _, name := range cfg.Peers {
		r.peers = append(r.peers, peer{name: name, serves: make([]bool, len(plan.Outputs)), status: make([]dcaa.StreamStatus, len(plan.Outputs))})
		r.permission.Peer(now, name, true) // until it is heard
	}
	for n := range plan.Inputs {
		r.inputs = append(r.inputs, &input{r: r, n: n, stream: plan.Inputs[n].Stream})
	}
	for n := range plan.Unions {
		if err := r.addUnion(n); err != nil {
			return nil, err
		}
	}
	r.findPaths()
	return r, nil
}

func (r *Replica) addUnion(n int) error {
	u := &r.cfg.Plan.Unions[n]
	su, err := sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: r.cfg.Plan.Bucket, Unordered: u.Unordered,
		SuffixRows: r.cfg.WaitingRows, ReplayRows: r.replayRows(), SuffixBytes: r.suffixBytes()})
	if err != nil {
		return err
	}
	r.unions = append(r.unions, &union{n: n, su: su, place: r.cfg.Places[n], due: dcaa.Never})
	for k, in := range u.Inputs {
		r.inputs[in].feeds = append(r.inputs[in].feeds, feed{union: n, input: k})
	}
	return nil
}

// begin opens the inputs, at the positions of a recovery point or at their beginning.
func (r *Replica) begin(at [][]tuple.Position, now dcaa.Instant) {
	for _, in := range r.inputs {
		from := tuple.Position{Time: tuple.MinTime}
		for k, f := range in.feeds {
			if at == nil {
				continue
			}
			p := at[f.union][f.input]
			r.unions[f.union].su.Resume(f.input, p)
			if k == 0 || p.Compare(from) < 0 {
				from = p
			}
		}
		for _, f := range in.feeds {
			if at != nil {
				from.Time = min(from.Time, at[f.union][f.input].Time)
			}
		}
		c := r.cfg.Inputs[in.n]
		in.intake = dcaa.NewIntake(dcaa.IntakeConfig{Settings: &r.cfg.Settings, Producers: c.Producers, Preferred: c.Preferred,
			From: from, Tentative: r.tentatively(), Whole: true}, now, in, in)
	}
}

// tentatively says whether the query takes tentative results at all.
func (r *Replica) tentatively() bool {
	s := &r.cfg.Settings
	return s.MaxDelay != dcaa.Unbounded && s.Consistency != dcaa.StableOnly
}

// Snapshot encodes the operators and returns the rest of a recovery point. It is called between events.
func (r *Replica) Snapshot(e *tuple.Encoder) State {
	r.inst.Snapshot(e)
	s := State{Boundary: tuple.MaxTime, Inputs: r.positions()}
	for _, u := range r.unions {
		s.Boundary = min(s.Boundary, u.su.Released())
	}
	for _, o := range r.numbers {
		s.Outputs = append(s.Outputs, o.State())
	}
	for n := range r.checks {
		s.Checksums = append(s.Checksums, r.checks[n].sum.State())
	}
	r.snapshotAnew(&s)
	return s
}

// positions returns where each input of each SUnion has to be resumed.
func (r *Replica) positions() (out [][]tuple.Position) {
	for _, u := range r.unions {
		var at []tuple.Position
		for k := range r.cfg.Plan.Unions[u.n].Inputs {
			at = append(at, u.position(k))
		}
		out = append(out, at)
	}
	return out
}

// Covered returns what a recovery point covers of an input: its producer may forget it. Its Time is that of the whole point,
// the same for every input: by it producers that have to choose between replicas keep what the same one needs.
func (s *State) Covered(plan *query.FragmentPlan, input int) tuple.Position {
	var low tuple.Position
	first := true
	for n, u := range plan.Unions {
		for k, in := range u.Inputs {
			if in != input {
				continue
			}
			p := s.Inputs[n][k]
			if first || p.Compare(low) < 0 {
				low.ID, low.Generation = p.ID, p.Generation
			}
			if first || p.Time < low.Time {
				low.Time = p.Time
			}
			first = false
		}
	}
	low.Time = min(low.Time, s.Boundary)
	return low
}

// stableOut takes the results of the stable instance.
type stableOut struct{ r *Replica }

// Batch numbers a borrowed batch and emits it.
func (o stableOut) Batch(n int, b *tuple.Batch) error {
	if o.r.silent[n].on {
		return nil
	}
	if f := o.r.numbers[n].Batch(b); f != nil {
		o.r.checkRows(n, f)
		o.r.shell.Emit(n, f)
	}
	return nil
}

// Boundary passes on how far an output is complete.
func (o stableOut) Boundary(n int, t tuple.Time) error {
	if s := &o.r.silent[n]; s.on {
		s.told = max(s.told, t)
		return nil
	}
	if f := o.r.numbers[n].Boundary(t, o.r.ageOf(n, t)); f != nil {
		f.Normal = o.r.normalOf(n)
		o.r.checkBoundary(n, f)
		o.r.shell.Emit(n, f)
	}
	return nil
}

// ageOf returns the age of an output's boundary at t, by the bucket that is on its way there. An operator that promises
// more than it has been given, as one does whose window has just closed, is that much ahead of time: what waits for
// another input beside it is not late before then.
func (r *Replica) ageOf(output int, t tuple.Time) int64 {
	unions := r.cfg.Plan.Outputs[output].Unions
	oldest := int64(math.MinInt64)
	for _, n := range unions {
		u := r.unions[n]
		age := u.age
		if t > u.agedTo && t != tuple.MaxTime {
			age -= ahead(t, u.agedTo)
		}
		oldest = max(oldest, age)
	}
	if len(unions) == 0 {
		return 0
	}
	return dcaa.ClampAge(oldest)
}

// normalOf returns what of the age of an output's boundaries is normal.
func (r *Replica) normalOf(output int) int64 {
	most := int64(0)
	for _, n := range r.cfg.Plan.Outputs[output].Unions {
		u := r.unions[n]
		most = max(most, u.path.wait.Normal(), u.place.Slack+u.place.Lag)
	}
	return min(most, dcaa.MostAge)
}

// ahead returns how far a stime is behind an earlier one, at most dcaa.MostAge: what others say may be as far away as can be.
func ahead(t, from tuple.Time) int64 {
	if d := uint64(t) - uint64(from); d < uint64(dcaa.MostAge) {
		return int64(d)
	}
	return dcaa.MostAge
}
