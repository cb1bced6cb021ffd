package replica

import "fednode/query/tuple"

// AnewPhase says how far results of best effort are from being stable again.
type AnewPhase uint8

// Phases.
const (
	// Whole: nothing is lost, nothing is tentative.
	Whole AnewPhase = iota
	// Lacking: input is missing, or not complete again.
	Lacking
	// Converging: it is complete; results are stable again as soon as they depend on nothing that was missing.
	Converging
	// Following: another replica goes on with stable results, and this one makes up for what it missed.
	Following
)

// AnewView is how an output of best effort fares, for people.
type AnewView struct {
	Phase AnewPhase
	// Span is how far back in their input results depend on it, in microseconds.
	Span int64
	// Complete is up to where the input is complete, Needed up to where it has to be before results can begin anew, while they lack
	// something; MinTime else.
	Complete, Needed tuple.Time
	// Begins is where results are stable again while they converge, and else where they have begun anew; 0 if they have not.
	Begins tuple.Time
	// Times counts the beginnings of this life. The last one left results from GapFrom up to GapTo as they were.
	Times          uint64
	GapFrom, GapTo tuple.Time
	Reason         string
}

// beginning is what is remembered of how often an output has begun anew, and of the last time.
type beginning struct {
	times    uint64
	from, to tuple.Time
	reason   string
}

// Anew describes an output of best effort; ok is false if it is not.
func (r *Replica) Anew(output int) (v AnewView, ok bool) {
	p := r.pathOf(output)
	if !r.bestEffort() || p == nil {
		return v, false
	}
	b := &r.began[output]
	v = AnewView{Span: r.span, Complete: tuple.MinTime, Needed: tuple.MinTime, Begins: r.silent[output].begins,
		Times: b.times, GapFrom: b.from, GapTo: b.to, Reason: b.reason}
	switch affected := r.silent[output].on || p.fork != nil && p.fork.AffectedOutput(output); {
	case !affected || p.anew.told:
	case p.anew.to != tuple.MinTime:
		v.Phase, v.Begins = Converging, p.anew.to
	case !r.converges(p):
		v.Phase = Following
	default:
		v.Phase, v.Complete, v.Needed = Lacking, tuple.MaxTime, p.anew.need
		for _, u := range p.unions {
			v.Complete, v.Needed = min(v.Complete, u.su.Stable()), max(v.Needed, u.su.Forked())
		}
	}
	return v, true
}
