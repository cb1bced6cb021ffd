package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// Redoing reports whether the replica has permission to redo at full speed.
func (r *Replica) Redoing() bool { return r.permission.Granted() }

// Asking reports whether a request for permission is outstanding.
func (r *Replica) Asking() bool {
	_, asking := r.permission.Due()
	return asking
}

// Behind returns how far the stable side is behind what the producers of its inputs have told of, in microseconds of stream
// time; redoing is false unless missed buckets are being redone.
func (r *Replica) Behind() (behind int64, redoing bool) {
	for _, p := range r.paths {
		redoing = redoing || p.fork != nil && p.state == dcaa.Stabilization
	}
	if !redoing || !r.Redoing() {
		return 0, false
	}
	released := r.Released()
	for _, in := range r.inputs {
		if told := in.intake.Told(); told != tuple.MaxTime && told > released && released != tuple.MinTime {
			behind = max(behind, ahead(told, released))
		}
	}
	return behind, true
}
