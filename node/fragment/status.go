package fragment

import (
	"time"

	"fednode/dcaa"
)

// answerWithin is how long Status waits for the loop, which may be deep in a large bucket.
const answerWithin = 50 * time.Millisecond

// current describes the fragment. The run loop calls it.
func (r *Runner) current() Status {
	now := r.now()
	s := Status{Name: r.cfg.Name, Operator: r.core.Instance().Status(), Released: r.core.Released(), StateBytes: r.core.Instance().StateBytes(),
		Load: r.work.load, CannotCatchUp: r.work.loses, Worked: time.Duration(r.work.total) * time.Microsecond, Renewals: r.core.Renewals()}
	for n, in := range r.inputs {
		source, at, tentative, waiting := r.core.Input(n)
		st := InputStatus{Stream: in.stream, Connected: source >= 0, Cause: in.cause, Condition: r.core.Condition(now, n),
			Boundary: at.Time, Waiting: waiting, Rows: in.rows, Tentative: tentative, Held: r.core.Held(n), Diverged: r.core.Diverged(n)}
		if source >= 0 {
			st.Producer, st.Cause = in.producers[source], ""
		}
		s.Inputs = append(s.Inputs, st)
	}
	for n := range r.outputs {
		b, c := r.core.Status(n), r.counts[n]
		o := OutputStatus{State: b.State, Since: c.since, Holding: time.Duration(b.Holding) * time.Microsecond, Tentative: c.tentative,
			Missing: r.core.Missing(n), Delay: time.Duration(max(0, c.delay)) * time.Microsecond, Redo: c.redo, Delays: c.delays}
		if x := r.cfg.Settings.MaxDelay; x != dcaa.Unbounded {
			o.Bound = time.Duration(x) * time.Microsecond
		}
		if v, ok := r.core.Anew(n); ok {
			o.Anew = &v
		}
		s.Outputs = append(s.Outputs, o)
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
	if fresh != nil {
		r.keep(*fresh)
	}
	r.mu.Lock()
	s := r.status
	r.mu.Unlock()
	known := s.Outputs
	s.Outputs = make([]OutputStatus, len(r.outputs))
	for n, o := range r.outputs {
		st := &s.Outputs[n]
		if n < len(known) {
			*st = known[n]
		}
		st.Stream, st.Head, st.Subscribers = o.Name(), o.Head(), o.Subscribers()
		st.Bytes, st.Limit = o.Held()
		st.Spare, st.Spilled, st.Lapsed = o.Spare(), o.Spilled(), o.Lapses()
	}
	return s
}

// keep remembers how the fragment stands, for who asks while the loop is busy.
func (r *Runner) keep(s Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.PointAt, s.PointBoundary, s.Failure = r.status.PointAt, r.status.PointBoundary, r.status.Failure
	r.status = s
}
