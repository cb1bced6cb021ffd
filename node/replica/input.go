package replica

import (
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
	way    dcaa.Age // from the producer of the frame being taken
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
	// base is where the stable side stood when the fork was made, or when it was last looked whether it is to be renewed.
	base tuple.Time
	// age is that of the buckets before agedTo, which were released last; held is how long the oldest bucket is overdue, 0
	// if it is not.
	age    int64
	agedTo tuple.Time
	held   int64
	due    dcaa.Instant
	gaps   []gap
	// renames are those of inputs whose place has not been released, one of each.
	renames []renamed
	// needs says of inputs up to where rows of theirs may be lost for good, of a best-effort query that has yet to begin anew.
	needs map[int]tuple.Time
	// ahead is how many rows have been released since the SUnions of the path were last level.
	ahead int
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
		in.r.refute(u, p.input, t)
		u.path.wait.Boundary(u.first+p.input, t, age.After(in.way), in.r.now)
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
		u.path.wait.Boundary(u.first+p.input, t, age.After(in.way), in.r.now)
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

// Done forgets the suffix: stable rows have replaced it, or never will.
func (in *input) Done(tuple.Run) {
	for _, p := range in.feeds {
		in.r.unions[p.union].su.DoneTentative(p.input)
	}
}
