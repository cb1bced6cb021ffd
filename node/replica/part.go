package replica

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// Take says of each SUnion, by its index in Plan.Unions, whether it is taken over from another replica, with all that depends
// on it.
type Take []bool

// Whole reports whether that is all there is.
func (t Take) Whole() bool { return !slices.Contains(t, false) }

// Outputs says of each output of the fragment whether it is taken over.
func (t Take) Outputs(plan *query.FragmentPlan) []bool {
	list := make([]bool, len(plan.Outputs))
	for o := range list {
		list[o] = slices.ContainsFunc(plan.Outputs[o].Unions, func(u int) bool { return t[u] })
	}
	return list
}

// part is a set of paths that read inputs in common. Its state depends on nothing else, so it can be taken over alone; each
// input is of one part.
type part struct {
	unions []*union
	inputs []*input
}

// parts divides the fragment into as many parts as it has; into one if it is to be taken whole.
func (r *Replica) parts(whole bool) []part {
	if whole {
		return []part{{unions: r.unions, inputs: r.inputs}}
	}
	of := make([]int, len(r.paths)) // the part of each path, by the first path of it
	for n := range of {
		of[n] = n
	}
	join := func(a, b int) {
		low, high := min(of[a], of[b]), max(of[a], of[b])
		for n := range of {
			if of[n] == high {
				of[n] = low
			}
		}
	}
	for _, in := range r.inputs {
		for _, f := range in.feeds[1:] {
			join(r.unions[in.feeds[0].union].path.n, r.unions[f.union].path.n)
		}
	}
	list := make([]part, len(r.paths))
	for _, u := range r.unions {
		p := &list[of[u.path.n]]
		p.unions = append(p.unions, u)
	}
	for _, in := range r.inputs {
		p := &list[of[r.unions[in.feeds[0].union].path.n]]
		p.inputs = append(p.inputs, in)
	}
	return slices.DeleteFunc(list, func(p part) bool { return len(p.unions) == 0 })
}

// complete is up to where all of a part is complete at positions by SUnion.
func (p *part) complete(at [][]tuple.Position) tuple.Time {
	low := tuple.MaxTime
	for _, u := range p.unions {
		for _, pos := range at[u.n] {
			low = min(low, pos.Time)
		}
	}
	return low
}

// Offered says where the state of a peer stands that Transfer has asked for; of s, Inputs count. take is what of it reaches
// further than this replica, nil if nothing does: then the peer lacks the same rows. Each part of the fragment is judged by
// itself, or all as one if whole says so: since another revision of the query may have had other parts. A part reaches further
// if it does so at an input that can go on nowhere. At another input it may lie behind, or where no producer is known to go on, only
// if all of the part is complete further, and among equals if the peer's name is the lower: two that lack input of different
// streams would else exchange their states in circles.
func (r *Replica) Offered(now dcaa.Instant, peer int, s State, whole bool) (take Take) {
	r.now = now
	parts, ours := r.parts(whole), State{Inputs: r.positions()}
	wanting, found := false, make(Take, len(r.unions))
	for n := range parts {
		wants, further := r.compare(&parts[n], &ours, &s, r.peers[peer].name)
		wanting = wanting || wants
		for _, u := range parts[n].unions {
			found[u.n] = further
		}
	}
	switch {
	case slices.Contains(found, true):
		return found
	case wanting:
		r.Declined(now, peer)
	default:
		// A producer has come that may serve the input after all; if it does not, the same peer is asked again.
		r.transferAt = now
	}
	return nil
}

// compare says whether a part wants a state of a peer, and whether that one reaches further.
func (r *Replica) compare(p *part, ours, theirs *State, peer string) (wants, further bool) {
	var list []offered
	for _, in := range p.inputs {
		o := offered{here: ours.Covered(r.cfg.Plan, in.n), there: theirs.Covered(r.cfg.Plan, in.n)}
		_, o.lost = in.intake.Lost()
		o.continues = in.intake.Continues(o.there)
		list = append(list, o)
	}
	return reachesFurther(list, cmp.Or(cmp.Compare(p.complete(theirs.Inputs), p.complete(ours.Inputs)), strings.Compare(r.cfg.Name, peer)) > 0)
}

// offered is one input of a part in our state and in that of a peer. lost: it can go on nowhere from here. continues: a producer that
// cannot go on from here can from there.
type offered struct {
	here, there     tuple.Position
	lost, continues bool
}

// order says whether the place of the peer is the further one, if more than 0, or the less far. By number a generation may be the
// lower one that goes on, or the higher one of which nothing comes any more.
func (o *offered) order() int {
	switch other := o.there.Generation != o.here.Generation; {
	case o.lost && o.continues:
		return 1
	case !o.lost && other && !o.continues:
		return -1
	}
	return o.there.Compare(o.here)
}

// reachesFurther says whether a part with such inputs wants a state, and whether the one that is offered reaches further. complete:
// all of that is complete further, or as far and comes first.
func reachesFurther(list []offered, complete bool) (wants, further bool) {
	behind := false
	for k := range list {
		o := &list[k]
		c := o.order()
		wants = wants || o.lost
		further = further || o.lost && c > 0
		behind = behind || c < 0
	}
	return wants, further && (!behind || complete)
}

// Graft returns a recovery point of the present moment like Snapshot, but for what is taken from that of another replica. It
// is called between events.
func (r *Replica) Graft(theirs State, operators []byte, take Take) (State, []byte, error) {
	var e tuple.Encoder
	s := r.Snapshot(&e)
	return r.GraftOnto(s, e.B, theirs, operators, take)
}

// GraftOnto does so to a recovery point of this replica. It reads nothing that changes, and may be called from any goroutine.
func (r *Replica) GraftOnto(s State, own []byte, theirs State, operators []byte, take Take) (State, []byte, error) {
	if len(theirs.Inputs) != len(s.Inputs) || len(theirs.Outputs) != len(s.Outputs) {
		return s, nil, fmt.Errorf("the state of another replica has %d SUnions and %d outputs, the plan %d and %d", len(theirs.Inputs), len(theirs.Outputs), len(s.Inputs), len(s.Outputs))
	}
	b, err := r.cfg.Plan.Graft(own, operators, take)
	if err != nil {
		return s, nil, err
	}
	for n, taken := range take {
		if taken {
			s.Inputs[n] = theirs.Inputs[n]
		}
	}
	for o, taken := range take.Outputs(r.cfg.Plan) {
		if taken {
			r.graftOutput(&s, &theirs, o)
		}
	}
	for n, p := range r.paths {
		if len(s.Anew) > 0 && take[p.unions[0].n] {
			s.Anew[n] = AnewState{Need: tuple.MinTime, From: tuple.MinTime, To: tuple.MinTime}
			if n < len(theirs.Anew) {
				s.Anew[n] = theirs.Anew[n]
			}
		}
	}
	all := part{unions: r.unions}
	s.Boundary = all.complete(s.Inputs)
	return s, b, nil
}

// graftOutput takes what a recovery point of another replica holds of an output. What that one does not keep is not known.
func (r *Replica) graftOutput(s, theirs *State, output int) {
	s.Outputs[output] = theirs.Outputs[output]
	if len(s.Checksums) > 0 {
		s.Checksums[output] = sunion.ChecksumState{}
		if output < len(theirs.Checksums) {
			s.Checksums[output] = theirs.Checksums[output]
		}
	}
	if len(s.Silences) > 0 {
		s.Silences[output] = SilenceState{}
		if output < len(theirs.Silences) {
			s.Silences[output] = theirs.Silences[output]
		}
	}
}
