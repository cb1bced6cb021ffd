package replica

import (
	"cmp"
	"fmt"
	"slices"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/sunion"
)

// input is one stream that enters the replica. It is the taker of its intake, and passes on what that asks for.
type input struct {
	r      *Replica
	n      int
	stream string
	intake *dcaa.Intake
	feeds  []feed
	rows   uint64
	rtt    int64 // to the producer of the frame being taken
}

// feed is one place where an input enters an SUnion.
type feed struct{ union, input int }

// union is one SUnion with what decides how long its buckets wait.
type union struct {
	n     int
	su    *sunion.SUnion
	place dcaa.Place
	path  *path
	first int // of its inputs among those of the path
	// affected: the fork goes on where the stable side lacks input.
	affected bool
	// age is that of the buckets before agedTo, which were released last; held is how long the oldest bucket is overdue, 0
	// if it is not.
	age    int64
	agedTo tuple.Time
	held   int64
	due    dcaa.Instant
	gaps   []gap
	// ahead is how many rows have been released since the SUnions of the path were last level.
	ahead int
}

// gap is a stretch of lost rows on its way to the outputs. It has a place among the results that depends on the input
// alone: behind the buckets before at, where the input's boundary stood.
type gap struct {
	at       tuple.Time
	from, to tuple.Time
	reason   string
	outputs  []int
	// input is that of the SUnion, and before where it stood when it heard of the gap.
	input  int
	before tuple.Position
}

// position is where an input of the SUnion has to be resumed. A gap that the outputs have not been told of is met again.
func (u *union) position(input int) tuple.Position {
	p := u.su.Position(input)
	for _, g := range u.gaps {
		if g.input == input {
			p.Generation, p.ID = g.before.Generation, min(p.ID, g.before.ID)
			break
		}
	}
	return p
}

// file adds a gap to those that wait. Other inputs may have told of later places before: which comes first among the
// results is the same at every replica all the same.
func (u *union) file(g gap) {
	k := len(u.gaps)
	for k > 0 && cmp.Or(cmp.Compare(g.at, u.gaps[k-1].at), cmp.Compare(g.input, u.gaps[k-1].input)) < 0 {
		k--
	}
	u.gaps = slices.Insert(u.gaps, k, g)
}

// tellGaps emits the gaps whose place has come.
func (r *Replica) tellGaps(u *union) {
	for len(u.gaps) > 0 && u.gaps[0].at <= u.su.Released() {
		g := u.gaps[0]
		u.gaps = u.gaps[1:]
		for _, o := range g.outputs {
			s := r.numbers[o].State()
			r.shell.Emit(o, &tuple.Frame{Kind: tuple.Gap, Generation: s.Generation, FirstID: s.Next - 1, Time: g.from, To: g.to, Reason: g.reason})
		}
	}
}

// Open passes on that a producer is to be asked.
func (in *input) Open(o dcaa.Opening) { in.r.shell.Open(in.n, o) }

// Close passes on that a connection has ended.
func (in *input) Close(conn uint64) { in.r.shell.Close(in.n, conn) }

// Rows files stable rows.
func (in *input) Rows(f *tuple.Frame) error {
	in.rows += uint64(f.Batch.Rows())
	high := latest(f.Batch)
	for _, p := range in.feeds {
		u := in.r.unions[p.union]
		if err := u.su.Insert(p.input, f); err != nil {
			return fmt.Errorf("stream %s: %w", in.stream, err)
		}
		u.path.wait.Rows(u.first+p.input, high, in.r.now)
	}
	return nil
}

// latest returns the largest stime of a batch, MinTime if it has no rows.
func latest(b *tuple.Batch) tuple.Time {
	n := b.Rows()
	switch {
	case n > 0 && b.Ordered:
		return b.Time[b.Row(n-1)]
	case n > 0 && b.Sel == nil:
		return slices.Max(b.Time)
	}
	high := tuple.MinTime
	for _, row := range b.Sel {
		high = max(high, b.Time[row])
	}
	return high
}

// Boundary files a stable boundary.
func (in *input) Boundary(t tuple.Time, age dcaa.Age) {
	for _, p := range in.feeds {
		u := in.r.unions[p.union]
		u.su.Boundary(p.input, t)
		u.path.wait.Boundary(u.first+p.input, t, age.After(in.rtt/2), in.r.now)
	}
}

// Gap goes on behind lost rows; every output that depends on them says so.
func (in *input) Gap(f *tuple.Frame) {
	told := make(map[int]bool)
	for _, p := range in.feeds {
		u := in.r.unions[p.union]
		before := u.su.Position(p.input)
		u.su.Gap(p.input, f.Generation, f.FirstID)
		g := gap{input: p.input, before: before, at: u.su.InputBoundary(p.input).FloorTo(in.r.cfg.Plan.Bucket, 0), from: f.Time, to: f.To, reason: in.stream + ": " + f.Reason}
		for _, o := range in.r.cfg.Plan.Unions[p.union].Outputs {
			if !told[o] {
				told[o] = true
				g.outputs = append(g.outputs, o)
			}
		}
		u.file(g)
		in.r.tellGaps(u)
	}
}

// TentativeRows files rows of the suffix.
func (in *input) TentativeRows(f *tuple.Frame) {
	for _, p := range in.feeds {
		u := in.r.unions[p.union]
		u.su.InsertTentative(p.input, f)
		u.path.wait.Rows(u.first+p.input, latest(f.Batch), in.r.now)
	}
}

// TentativeBoundary files up to where the suffix is complete.
func (in *input) TentativeBoundary(t tuple.Time, age dcaa.Age) {
	for _, p := range in.feeds {
		u := in.r.unions[p.union]
		u.su.TentativeBoundary(p.input, t)
		u.path.wait.Boundary(u.first+p.input, t, age.After(in.rtt/2), in.r.now)
	}
}

// Trim forgets what another replica's run gives again.
func (in *input) Trim(t tuple.Time) {
	for _, p := range in.feeds {
		in.r.unions[p.union].su.TrimTentative(p.input, t)
	}
}

// Undo forgets the suffix; what the fork has of it stays there until the fork is dropped.
func (in *input) Undo(tuple.Run) {
	for _, p := range in.feeds {
		in.r.unions[p.union].su.UndoTentative(p.input)
	}
}

// Done forgets the suffix: stable rows have replaced it.
func (in *input) Done(run tuple.Run) { in.Undo(run) }
