package replica

import (
	"cmp"
	"slices"

	"fednode/query/tuple"
	"fednode/sunion"
)

// gap is word of lost rows on its way to the outputs. It has a place among the results that depends on the input alone:
// behind the buckets before at, up to where the input was complete.
type gap struct {
	at       tuple.Time
	from, to tuple.Time
	reason   string
	outputs  []int
	// input is that of the SUnion, and before where it stood when it heard of the gap.
	input  int
	before tuple.Position
	// lost: rows have been passed over, so that what follows is numbered in generations of its own; loss says which.
	lost bool
	loss sunion.Loss
}

// renamed is an input that goes on in another generation behind a boundary, and where it was resumed before. As long as not
// all before the boundary has been released it is resumed there: the new generation may begin behind that.
type renamed struct {
	input  int
	at     tuple.Time
	before tuple.Position
}

// rename lets an input go on in another generation that has the same rows. Of several that wait the first says where it is resumed.
func (u *union) rename(input int, f *tuple.Frame) {
	u.renames = slices.DeleteFunc(u.renames, func(n renamed) bool { return n.at <= u.su.Released() })
	at := u.su.InputBoundary(input)
	if k := slices.IndexFunc(u.renames, func(n renamed) bool { return n.input == input }); k >= 0 {
		u.renames[k].at = at
	} else {
		u.renames = append(u.renames, renamed{input: input, at: at, before: u.position(input)})
	}
	u.su.Rename(input, f.Generation, f.FirstID)
}

// gapRows is how many rows a gap that waits counts for when an input is held: so many may be kept, each with its reason.
const gapRows = mostWaiting / (1 << 14)

// position is where an input of the SUnion has to be resumed. A gap that the outputs have not been told of is met again.
func (u *union) position(input int) tuple.Position {
	p := u.su.Position(input)
	for _, n := range u.renames {
		if n.input == input && n.at > u.su.Released() { // a gap that came later is behind it
			p.Generation, p.ID = n.before.Generation, n.before.ID
			return p
		}
	}
	for _, g := range u.gaps {
		if g.input == input {
			p.Generation, p.ID = g.before.Generation, g.before.ID
			break
		}
	}
	return p
}

// file adds a gap to those that wait. Other inputs may have told of later places before: which comes first among the
// results is the same at every replica all the same. One that passes over nothing is told together with another one of the
// same place that waits: who tells of one after the other makes nothing grow.
func (u *union) file(g gap) {
	k := len(u.gaps)
	for k > 0 && cmp.Or(cmp.Compare(g.at, u.gaps[k-1].at), cmp.Compare(g.input, u.gaps[k-1].input)) < 0 {
		k--
	}
	if k > 0 && !g.lost {
		if w := &u.gaps[k-1]; w.at == g.at && w.input == g.input && slices.Equal(w.outputs, g.outputs) {
			w.from, w.to = min(w.from, g.from), max(w.to, g.to)
			return
		}
	}
	u.gaps = slices.Insert(u.gaps, k, g)
}

// Gap goes on behind lost rows; every output that depends on them says so.
func (in *input) Gap(f *tuple.Frame) {
	told := make(map[int]bool)
	for _, p := range in.feeds {
		u := in.r.unions[p.union]
		generation, id := u.su.Last(p.input)
		if generation == f.Generation && id > f.FirstID {
			continue // it is beyond: another SUnion made the input begin before
		}
		// Within a generation rows do not come again: those that wait are all there will be of them.
		if generation != f.Generation && in.exact() && in.dated() && u.covers(p.input, f.To) {
			u.rename(p.input, f)
			continue
		}
		g := gap{input: p.input, before: u.position(p.input), at: u.su.Complete(p.input), from: f.Time, to: f.To, reason: in.stream + ": " + f.Reason}
		g.loss = sunion.Loss{Stream: in.stream, At: g.at, Next: tuple.Position{Generation: f.Generation, ID: f.FirstID}}
		if g.lost = u.su.Gap(p.input, f.Generation, f.FirstID); g.lost {
			g.from = min(g.from, g.at)
			if in.r.bestEffort() {
				u.su.Keep(p.input, g.at, f.To)
				in.r.lose(u, p.input, max(f.To, g.at), g.reason)
				continue
			}
		}
		for _, o := range in.r.cfg.Plan.Unions[p.union].Outputs {
			if !told[o] {
				told[o] = true
				g.outputs = append(g.outputs, o)
			}
		}
		u.file(g)
		if at := u.su.Released(); at > tuple.MinTime {
			in.r.tellGaps(u, at)
		}
	}
}

// exact reports whether an input has the same rows in every generation, wherever that begins: that of a fragment of the same query
// of best effort. What it gives as stable depends on nothing that was lost.
func (in *input) exact() bool {
	c := &in.r.cfg.Inputs[in.n]
	return in.r.bestEffort() && !c.Source && !c.Outside
}

// covers reports whether an input has begun and is complete up to an stime.
func (u *union) covers(input int, to tuple.Time) bool {
	at := u.su.InputBoundary(input)
	return at > tuple.MinTime && to <= at
}

// dated reports whether a producer that an input goes on with, if it does so behind rows that are gone, says up to which stime they
// are: one may know their ids alone, as after a restart from a point of before that was stored, and what is not known may lie behind
// what the input has.
func (in *input) dated() bool {
	first, lost := in.intake.Lost()
	return !lost || first.ID == 0 || first.Time > tuple.MinTime
}

// seamless reports whether an input that no producer can serve goes on in another generation without a row lost.
func (in *input) seamless() bool {
	first, lost := in.intake.Lost()
	return lost && in.exact() && in.dated() && !slices.ContainsFunc(in.feeds, func(f feed) bool { return !in.r.unions[f.union].covers(f.input, first.Time) })
}

// tellGaps emits the gaps whose place has come: up to an stime. Those at the very beginning are told right before the first
// release: until then inputs begin in any order, and which comes first is the same at every replica all the same.
func (r *Replica) tellGaps(u *union, to tuple.Time) {
	for len(u.gaps) > 0 && u.gaps[0].at <= to {
		g := u.gaps[0]
		u.gaps = u.gaps[1:]
		for _, o := range g.outputs {
			r.tellGap(o, &g)
		}
	}
}

// tellGap tells of a gap at one output: in its generation, or as the beginning of the next.
func (r *Replica) tellGap(output int, g *gap) {
	f := &tuple.Frame{Kind: tuple.Gap, Time: g.from, To: g.to, Reason: g.reason}
	if g.lost {
		r.numbers[output].NextGeneration(g.loss)
	}
	s := r.numbers[output].State()
	f.Generation, f.FirstID = s.Generation, s.Next-1
	r.shell.Emit(output, f)
}
