package tuple

import (
	"cmp"
	"fmt"
)

// FrameKind says what a frame means to its consumer.
type FrameKind uint8

// The frames. The values are those of the wire format and never change.
const (
	// Insertion carries stable tuples, never to be changed.
	Insertion FrameKind = 1
	// Tentative carries results of partial input, to be corrected later; they are numbered within a run.
	Tentative FrameKind = 2
	// Boundary promises that no later stable tuple of the stream has a smaller stime.
	Boundary FrameKind = 3
	// TentativeBoundary promises the same for the tentative suffix.
	TentativeBoundary FrameKind = 4
	// Undo tells the consumer to forget the tentative suffix of a run.
	Undo FrameKind = 5
	// RecDone says that the corrections of a run are complete; what follows is current and stable.
	RecDone FrameKind = 6
	// Gap says that the stable tuples of a stretch of stime will never come here.
	Gap FrameKind = 7
)

var frameNames = [...]string{"", "INSERTION", "TENTATIVE", "BOUNDARY", "TENTATIVE_BOUNDARY", "UNDO", "REC_DONE", "GAP"}

// String returns the frame's name in the protocol.
func (k FrameKind) String() string {
	if k >= Insertion && k <= Gap {
		return frameNames[k]
	}
	return fmt.Sprintf("FRAME(%d)", uint8(k))
}

// Run names one failure as one producer sees it: tentative tuples are numbered within a run. The zero Run is none.
type Run struct {
	// Producer is the peer id of the node.
	Producer string
	// Incarnation tells two lives of that node apart.
	Incarnation uint64
	// N counts the failures of that life from 1.
	N uint64
}

// Missing names an input whose absence made a batch tentative, and since which stream time it is missing.
type Missing struct {
	Stream string
	Since  Time
}

// Frame is one element of a stream as it flows between fragments and nodes. Which fields count depends on Kind. A frame
// is owned, and so is its batch.
type Frame struct {
	Kind FrameKind

	// Insertion: rows with ids in [FirstID, LastID]; every id of the stretch is accounted for. IDs is nil when the rows
	// have all of them; else it names the id of each row, rising: what an export held back leaves no row.
	// Tentative: FirstID and LastID number the rows within Run.
	Generation uint64
	FirstID    uint64
	LastID     uint64
	IDs        []uint64
	Batch      *Batch

	// Boundary, TentativeBoundary: no later tuple of the kind has stime < Time. Age is in microseconds: how long ago the
	// boundary could have been known at the source, and what its way here has cost. It is negative for a boundary that is
	// ahead of its time: the result of a window that has just closed promises nothing before the next one closes. Normal is
	// what of it has nothing to do with a failure: the slack and the lag of the sources, and the way when all is well. With
	// both 0 the frame says nothing of its age.
	Time   Time
	Age    int64
	Normal int64

	// Boundary: Sum is a checksum of the stable rows before it, the same at every replica that gives the same rows, however
	// they were batched; 0 is none.
	Sum uint64

	// Tentative, TentativeBoundary, Undo, RecDone.
	Run     Run
	Missing []Missing

	// Gap: stable tuples with stime in [Time, To) will not come; numbering goes on in Generation, with the ids above FirstID.
	To     Time
	Reason string
}

// String renders the frame on one line for transcripts and logs; rows are counted, not shown.
func (f *Frame) String() string {
	switch f.Kind {
	case Insertion:
		return fmt.Sprintf("INSERTION %d:%d-%d rows=%d", f.Generation, f.FirstID, f.LastID, f.Batch.Rows())
	case Tentative:
		return fmt.Sprintf("TENTATIVE run=%s %d-%d rows=%d", f.Run, f.FirstID, f.LastID, f.Batch.Rows())
	case Boundary:
		if f.Sum != 0 {
			return fmt.Sprintf("BOUNDARY %v age=%s sum=%016x", f.Time, f.age(), f.Sum)
		}
		return fmt.Sprintf("BOUNDARY %v age=%s", f.Time, f.age())
	case TentativeBoundary:
		return fmt.Sprintf("TENTATIVE_BOUNDARY %v age=%s run=%s", f.Time, f.age(), f.Run)
	case Undo, RecDone:
		return fmt.Sprintf("%v run=%s", f.Kind, f.Run)
	case Gap:
		return fmt.Sprintf("GAP [%v, %v) generation=%d reason=%q", f.Time, f.To, f.Generation, f.Reason)
	}
	return f.Kind.String()
}

// age renders what a boundary says of its age.
func (f *Frame) age() string {
	if f.Normal == 0 {
		return fmt.Sprintf("%dus", f.Age)
	}
	return fmt.Sprintf("%dus normal=%dus", f.Age, f.Normal)
}

// String renders the run as producer/incarnation/n, the producer cut to its last eight characters.
func (r Run) String() string {
	p := r.Producer
	if len(p) > 8 {
		p = p[len(p)-8:]
	}
	return fmt.Sprintf("%s/%d/%d", p, r.Incarnation, r.N)
}

// Position is a place in a stream that a consumer can resume from: it has consumed everything with stime < Time, and
// all ids ≤ ID. Resuming asks for ids > ID and drops rows with stime < Time.
type Position struct {
	Generation uint64
	Time       Time
	ID         uint64
}

// String renders the position as generation:id@time.
func (p Position) String() string { return fmt.Sprintf("%d:%d@%v", p.Generation, p.ID, p.Time) }

// Compare orders the places of a stream by what has gone by: first by generation, within one by id. It returns -1, 0 or 1.
// Time does not count: it says what a place is worth to whoever resumes there, not where it is. Of two generations the
// later number is the newer one wherever both belong to one history.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Generation, q.Generation), cmp.Compare(p.ID, q.ID))
}

// Holds reports whether all ids of an INSERTION have gone by. A position without a generation is one of that in force.
func (p Position) Holds(f *Frame) bool {
	return f.LastID <= p.ID && (f.Generation == p.Generation || p.Generation == 0) || f.Generation < p.Generation
}

// Past returns the position behind a frame of the stable stream; other frames do not move it.
func (p Position) Past(f *Frame) Position {
	switch f.Kind {
	case Insertion:
		p.Generation, p.ID = f.Generation, f.LastID
	case Gap:
		p.Generation, p.ID = f.Generation, f.FirstID
	case Boundary:
		p.Time = max(p.Time, f.Time)
	}
	return p
}

// After returns the frame without the rows whose id is at most id; the frame itself if there are none. f is an
// INSERTION with LastID > id.
func (f *Frame) After(id uint64) *Frame {
	if f.FirstID > id {
		return f
	}
	cut := *f
	cut.FirstID = id + 1
	drop := int(id - f.FirstID + 1)
	if f.IDs != nil {
		drop = 0
		for drop < len(f.IDs) && f.IDs[drop] <= id {
			drop++
		}
		cut.IDs = f.IDs[drop:]
	}
	cut.Batch = f.Batch.Slice(drop, f.Batch.Rows())
	return &cut
}
