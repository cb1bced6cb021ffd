package fragment

import (
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/storage"
)

// takeover is what the next life of a fragment is to begin with: the state of another replica, or what is taken of it.
type takeover struct {
	peer   int // by its index in Config.Peers
	theirs *storage.RecoveryPoint
	take   replica.Take
}

// begin cuts what is needed of the present state, and returns what makes the point of that. It is called between events; the point
// may be made on any goroutine.
func (x *takeover) begin(r *Runner) func() (*storage.RecoveryPoint, error) {
	if x.take.Whole() {
		return func() (*storage.RecoveryPoint, error) { return x.theirs, nil }
	}
	var e tuple.Encoder
	at := r.core.Snapshot(&e)
	who := r.readers()
	return func() (*storage.RecoveryPoint, error) { return r.graft(at, e.B, who, x) }
}

// graft returns a recovery point of a state of this replica, but for what is taken of another replica's: with that come the frames of
// its outputs, and who reads them. It reads nothing of the runner that changes.
func (r *Runner) graft(at replica.State, operators []byte, who []readers, x *takeover) (*storage.RecoveryPoint, error) {
	state, others, err := r.stateOf(x.theirs)
	if err != nil {
		return nil, err
	}
	for _, o := range r.cfg.Plan.Outputs {
		s := outputOf(x.theirs, o.Stream)
		state.Outputs = append(state.Outputs, replica.OutputState{Generation: s.Generation, Next: s.NextID, Boundary: s.Boundary})
	}
	counted, err := subscribersOf(x.theirs)
	if err != nil {
		return nil, err
	}
	starts, err := startsOf(x.theirs)
	if err != nil {
		return nil, err
	}
	at, operators, err = r.core.GraftOnto(at, operators, state, others, x.take)
	if err != nil {
		return nil, err
	}
	outputs := x.take.Outputs(r.cfg.Plan)
	for n, taken := range outputs {
		if stream := who[n].stream; taken {
			who[n] = readers{stream: stream, counted: counted[stream], start: starts[stream]} // its frames stay as they are encoded
		}
	}
	d := r.draft(&at, operators, who)
	for n, taken := range outputs {
		if taken {
			d.point.Outputs[n].Unacked = outputOf(x.theirs, d.point.Outputs[n].Stream).Unacked
		}
	}
	return d.complete(), nil
}

// taken names the outputs that are taken over.
func (r *Runner) taken(take replica.Take) (list []string) {
	for n, taken := range take.Outputs(r.cfg.Plan) {
		if taken {
			list = append(list, r.cfg.Plan.Outputs[n].Stream)
		}
	}
	return list
}
