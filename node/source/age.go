package source

import (
	"sort"
	"sync"
	"time"

	"fednode/query/tuple"
)

// ages knows when each boundary could be told, so that a boundary says on its way how old it is, whenever it is read.
type ages struct {
	slack int64 // microseconds: a row may come so late without anything being wrong

	mu    sync.Mutex
	lag   int64  // microseconds: as late rows normally come, by the newest boundary
	marks []mark // boundaries and times rise
}

type mark struct {
	boundary tuple.Time
	at       time.Time
	lag      int64
}

// mostMarks bounds what is remembered: some ten minutes. Of older boundaries it is said that they are at least as old.
const mostMarks = 8192

// note remembers that a boundary became known, and what lag was normal then.
func (a *ages) note(boundary tuple.Time, lag int64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lag = lag
	if n := len(a.marks); n > 0 && boundary <= a.marks[n-1].boundary {
		return
	}
	if len(a.marks) == mostMarks {
		a.marks = a.marks[:copy(a.marks, a.marks[mostMarks/2:])]
	}
	a.marks = append(a.marks, mark{boundary, now, lag})
}

// stamp returns a boundary frame with its age: slack and lag, which are normal, and the time since it became known. Others it
// returns as they are. Frames are shared by cursors, so it changes none.
func (a *ages) stamp(f *tuple.Frame, now time.Time) *tuple.Frame {
	if f.Kind != tuple.Boundary {
		return f
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	told := *f
	lag, waited := a.lag, int64(0)
	if i := sort.Search(len(a.marks), func(i int) bool { return a.marks[i].boundary >= f.Time }); i < len(a.marks) {
		lag, waited = a.marks[i].lag, now.Sub(a.marks[i].at).Microseconds()
	}
	told.Normal = a.slack + lag
	told.Age = max(1, told.Normal+waited) // 0 would say nothing
	return &told
}
