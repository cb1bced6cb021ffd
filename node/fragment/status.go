package fragment

import "time"

// answerWithin is how long Status waits for the loop, which may be deep in a large bucket.
const answerWithin = 50 * time.Millisecond

// current describes the fragment. The run loop calls it.
func (r *Runner) current() Status {
	s := Status{Name: r.cfg.Name, Operator: r.inst.Status(), Released: r.released, StateBytes: r.inst.StateBytes()}
	for n, in := range r.inputs {
		st := InputStatus{Stream: in.stream, Connected: in.connected, Cause: in.cause, Boundary: in.boundary, Rows: in.rows, Held: r.held(n)}
		for _, f := range r.feeds[n] {
			st.Waiting = max(st.Waiting, r.unions[f.union].Waiting(f.input))
		}
		s.Inputs = append(s.Inputs, st)
	}
	return s
}

// Status returns how the fragment stands; while its loop is busy, or has ended, how it last stood.
func (r *Runner) Status() Status {
	reply := make(chan Status, 1)
	wait := time.NewTimer(answerWithin)
	defer wait.Stop()
	var fresh *Status
	select {
	case r.ask <- reply:
		s := <-reply
		fresh = &s
	case <-wait.C:
	}
	r.mu.Lock()
	if fresh != nil {
		fresh.PointAt, fresh.PointBoundary, fresh.Failure = r.status.PointAt, r.status.PointBoundary, r.status.Failure
		r.status = *fresh
	}
	s := r.status
	r.mu.Unlock()
	s.Outputs = make([]OutputStatus, 0, len(r.outputs))
	for _, o := range r.outputs {
		bytes, limit := o.Held()
		s.Outputs = append(s.Outputs, OutputStatus{Stream: o.Name(), Head: o.Head(), Bytes: bytes, Limit: limit, Subscribers: o.Subscribers()})
	}
	return s
}
