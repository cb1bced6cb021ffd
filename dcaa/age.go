package dcaa

import "fednode/query/tuple"

// Age says how old a boundary is, in microseconds, and what of that is normal: the slack and the lag of the sources it stands
// for, and the way from them when nothing has failed. The rest is delay. Total is negative where a boundary is ahead of its
// time. The zero Age says nothing, as that of a boundary which was kept without its age.
type Age struct {
	Total  int64
	Normal int64
}

// AgeOf returns what a boundary frame says of its age.
func AgeOf(f *tuple.Frame) Age { return Age{Total: f.Age, Normal: f.Normal} }

// Delay is what has been added to what is normal; negative for a boundary that is ahead of its time.
func (a Age) Delay() int64 { return a.Total - a.Normal }

// After returns the age behind a way; what says nothing stays so.
func (a Age) After(way Age) Age {
	if a == (Age{}) {
		return a
	}
	return Age{Total: a.Total + way.Total, Normal: a.Normal + way.Normal}
}

// MostAge is more microseconds, some 2,300 years, than a boundary is old or ahead of its time. What a peer says beyond it is
// taken for it: passed on and added to it must stay within what frames carry.
const MostAge int64 = 1 << 56

// ClampAge returns an age within MostAge.
func ClampAge(age int64) int64 { return max(-MostAge, min(age, MostAge)) }

// clamped returns an age within MostAge, of which no negative part is normal.
func (a Age) clamped() Age { return Age{Total: ClampAge(a.Total), Normal: max(0, ClampAge(a.Normal))} }

// MostOutsideNormal is how much may be normal for a stream that comes from outside the query, in microseconds, unless the query
// declares more: for so long who gives it could hide the failure of another input beside it.
const MostOutsideNormal = 600 * second

// outside judges the ages of a stream from outside the query. Nothing that its producer says makes its boundaries count as
// later than they are: by how much they come later than they did in calm is seen here. Else false ages would make every
// bucket look overdue, and the other inputs would be given up at once.
type outside struct {
	most int64 // that is taken for normal
	// calm is how much later than their stime boundaries came at best, in microseconds between two clocks that have nothing
	// to do with each other.
	calm Floor
}

// believed returns what counts of the age of a boundary that has come.
func (o *outside) believed(a Age, t tuple.Time, now Instant, s *Settings) Age {
	delay := a.Delay()
	a.Normal = min(a.Normal, o.most)
	if t < -tuple.Time(MostAge) || t > tuple.Time(MostAge) {
		return Age{Total: a.Normal + min(delay, 0), Normal: a.Normal} // the end of a stream, or nothing that was ever measured
	}
	came := int64(now) - int64(t)
	o.calm.See(now, came)
	best, _ := o.calm.Value()
	return Age{Total: a.Normal + min(delay, came-best+s.tick()), Normal: a.Normal}
}
