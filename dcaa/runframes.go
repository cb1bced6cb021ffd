package dcaa

import (
	"sort"

	"fednode/query/tuple"
)

// runFrames are the frames of an output's open run that stable ones have not replaced yet, and the ends of runs that
// have just closed. Their sequence numbers come from the same count as those of stable frames, so that both can be
// delivered in the order in which they were emitted.
type runFrames struct {
	list  []runFrame
	bytes int64
	// kept is the end of a stretch that a GAP has named while the run was open, 0 if there is none: no stable rows will replace
	// its frames, and they stay until the next run begins, or keptFor after the stretch. over: the run has ended since.
	kept tuple.Time
	over bool
}

type runFrame struct {
	frame *tuple.Frame
	seq   uint64
	size  int64
	// after is the sequence number that a cursor's stable frames must have reached before this one: those that replaced
	// frames of the run before it would leave a hole if they came later.
	after uint64
	// high is the largest stime of its rows, or the time before its boundary: once the stable boundary is beyond it the
	// frame says nothing new. Ends of runs have MaxTime.
	high tuple.Time
}

// mostEnds is how many ends of runs are kept for cursors that have not come by. One that missed an end notices by the
// next run.
const mostEnds = 8

// keptFor is how far behind a stretch that a GAP has named its tentative frames are kept, in microseconds of stime: whoever reads
// them has long had them by then.
const keptFor = 10_000_000

// AppendTentative adds a TENTATIVE or TENTATIVE_BOUNDARY frame of the open run, or the UNDO or REC_DONE that ends it. At
// most limit bytes are kept of a run: beyond that the oldest rows go, and a replica that switches over later begins behind
// them.
func (b *OutputBuffer) AppendTentative(f *tuple.Frame, limit int64) {
	e := runFrame{frame: f, seq: b.next, size: b.weigh(f), high: tuple.MaxTime}
	b.next++
	if b.run.over && f.Kind != tuple.Undo && f.Kind != tuple.RecDone {
		b.run.kept, b.run.over = 0, false
		b.run.close()
	}
	switch f.Kind {
	case tuple.Tentative:
		e.high = latest(f.Batch)
	case tuple.TentativeBoundary:
		e.high = f.Time - 1
	case tuple.RecDone:
		if b.run.over = b.run.kept != 0; !b.run.over {
			b.run.close()
		}
	default:
		b.run.kept, b.run.over = 0, false
		b.run.close()
	}
	b.run.list = append(b.run.list, e)
	b.run.bytes += e.size
	for b.run.bytes > limit && len(b.run.list) > 1 {
		b.run.shift()
	}
}

// keep lets the frames of the open run stay: a GAP names a stretch up to an stime.
func (r *runFrames) keep(to tuple.Time) {
	if n := len(r.list); n > 0 && r.list[n-1].high != tuple.MaxTime {
		r.kept = to
	}
}

// close drops the frames of a run that ends, but for the latest ends.
func (r *runFrames) close() {
	var ends []runFrame
	r.bytes = 0
	for _, e := range r.list {
		if e.high == tuple.MaxTime {
			ends = append(ends, e)
		}
	}
	if len(ends) >= mostEnds {
		ends = ends[len(ends)-mostEnds+1:]
	}
	for _, e := range ends {
		r.bytes += e.size
	}
	r.list = ends
}

func (r *runFrames) shift() {
	r.bytes -= r.list[0].size
	r.list[0] = runFrame{}
	r.list = r.list[1:]
}

// replaced drops what a stable boundary has passed of the open run; next is the number behind it. Ends of runs before, which
// stand in front, stay.
func (r *runFrames) replaced(t tuple.Time, next uint64) {
	if r.over && t >= r.kept.Add(keptFor) {
		r.kept, r.over = 0, false
		r.close()
	}
	if r.kept != 0 {
		return
	}
	ends := 0
	for ends < len(r.list) && r.list[ends].high == tuple.MaxTime {
		ends++
	}
	passed := ends
	for passed < len(r.list) && r.list[passed].high < t {
		r.bytes -= r.list[passed].size
		passed++
	}
	if passed == ends {
		return
	}
	copy(r.list[passed-ends:], r.list[:ends])
	clear(r.list[:passed-ends])
	r.list = r.list[passed-ends:]
	for k := ends; k < len(r.list); k++ {
		r.list[k].after = next
	}
}

// SeekRun returns the sequence number of the first frame of the open run that a subscriber needs whose suffix is complete
// up to a stime. What came before an end that is still kept is not given to somebody new.
func (b *OutputBuffer) SeekRun(from tuple.Time) uint64 {
	if b.run.kept != 0 && from < b.run.kept {
		k := 0
		for k < len(b.run.list) && b.run.list[k].high == tuple.MaxTime {
			k++
		}
		return b.seekRun(k, from)
	}
	for k := len(b.run.list) - 1; k >= 0; k-- {
		if e := b.run.list[k]; e.high == tuple.MaxTime && e.frame.Batch == nil {
			return b.seekRun(k+1, from)
		}
	}
	return b.seekRun(0, from)
}

func (b *OutputBuffer) seekRun(k int, from tuple.Time) uint64 {
	for ; k < len(b.run.list); k++ {
		if b.run.list[k].high >= from {
			return b.run.list[k].seq
		}
	}
	return b.next
}

// RunFrame returns the first held frame of a run whose number is at least seq, and its number, if a cursor that has
// delivered the stable frames below stable may be given it now.
func (b *OutputBuffer) RunFrame(seq, stable uint64) (f *tuple.Frame, at uint64, ok bool) {
	l := b.run.list
	if n := len(l); n == 0 || l[n-1].seq < seq {
		return nil, seq, false
	}
	i := sort.Search(len(l), func(i int) bool { return l[i].seq >= seq })
	if l[i].after > stable {
		if _, _, more := b.Frame(stable); more {
			return nil, seq, false
		}
	}
	return l[i].frame, l[i].seq, true
}

// RunBytes returns the memory that frames of runs hold.
func (b *OutputBuffer) RunBytes() int64 { return b.run.bytes }
