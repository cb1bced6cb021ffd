package fragment

import (
	"fednode/node/replica"
	"fednode/storage"
)

// graft returns a recovery point of the present state, but for what is taken of another replica's: with that come the frames of
// its outputs, and who reads them.
func (r *Runner) graft(theirs *storage.RecoveryPoint, take replica.Take) (*storage.RecoveryPoint, error) {
	state, operators, err := r.stateOf(theirs)
	if err != nil {
		return nil, err
	}
	for _, o := range r.cfg.Plan.Outputs {
		s := outputOf(theirs, o.Stream)
		state.Outputs = append(state.Outputs, replica.OutputState{Generation: s.Generation, Next: s.NextID, Boundary: s.Boundary})
	}
	counted, err := subscribersOf(theirs)
	if err != nil {
		return nil, err
	}
	starts, err := startsOf(theirs)
	if err != nil {
		return nil, err
	}
	at, operators, err := r.core.Graft(state, operators, take)
	if err != nil {
		return nil, err
	}
	outputs, who := take.Outputs(r.cfg.Plan), r.readers()
	for n, taken := range outputs {
		if stream := who[n].stream; taken {
			who[n] = readers{stream: stream, counted: counted[stream], start: starts[stream]} // its frames stay as they are encoded
		}
	}
	d := r.draft(&at, operators, who)
	for n, taken := range outputs {
		if taken {
			d.point.Outputs[n].Unacked = outputOf(theirs, d.point.Outputs[n].Stream).Unacked
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
