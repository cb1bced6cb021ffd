package dcaa

import (
	"sort"

	"fednode/query/tuple"
)

// Wait knows, for the buckets of a path, since when each could have been complete: the clock that hold times run by. It
// is one for all SUnions that share operators, for results need all of them.
type Wait struct {
	settings *Settings
	inputs   []waitInput
}

// waitInput is what one input says of times: known holds what its boundaries say, loose its rows beyond them.
type waitInput struct {
	known []origin // rises with time
	loose loose
	last  origin // the newest that was ever known
	// normal is what of the ages of its boundaries is normal, as the last one said. outside is set for a stream from outside
	// the query.
	normal  int64
	outside *outside
}

// origin says that buckets up to a stime began to be due at an instant: the age of the boundary that completed them
// counts from there. came is when it was heard of. The boundary before it reached up to before, due at since.
type origin struct {
	to     tuple.Time
	at     Instant
	came   Instant
	before tuple.Time
	since  Instant
}

// jumps reports whether the boundary covers more than the next few buckets, or was ahead of its time: its buckets became
// due one by one. Rows out of order make a boundary rise unevenly by less.
func (o *origin) jumps(s *Settings) bool {
	return o.before != tuple.MinTime && o.to != tuple.MaxTime && (int64(o.to-o.before) > 3*s.tick() || o.at > o.came)
}

// due is when the bucket that ends at end began to be due. A boundary that covers many buckets tells the age of the last
// one alone; those before it became due between the boundary before and this one, evenly.
func (o *origin) due(end tuple.Time, s *Settings) Instant {
	if end >= o.to || end <= o.before || !o.jumps(s) {
		return o.at
	}
	part := float64(end-o.before) / float64(o.to-o.before)
	return o.since + Instant(part*float64(o.at-o.since))
}

// covering returns the first origin behind t.
func (i *waitInput) covering(t tuple.Time) (origin, bool) {
	k := sort.Search(len(i.known), func(k int) bool { return i.known[k].to > t })
	if k == len(i.known) {
		return origin{}, false
	}
	return i.known[k], true
}

// NewWait returns the clocks of a path with so many inputs.
func NewWait(s *Settings, inputs int) *Wait {
	w := &Wait{settings: s, inputs: make([]waitInput, inputs)}
	for n := range w.inputs {
		w.inputs[n].last.to = tuple.MinTime
	}
	return w
}

// mostOrigins bounds what is remembered of one input. Beyond it the oldest go: they matter to a redo alone, which then
// takes its oldest buckets for somewhat younger than they are.
const mostOrigins = 4096

// mostSteps is in how many steps the buckets that one boundary covers are let go at most.
const mostSteps = 64

// Outside says that an input of the SUnion at p comes from outside the query: what is normal for it need not be declared here,
// and its ages are not relied on.
func (w *Wait) Outside(in int, p Place) {
	w.inputs[in].outside = &outside{most: max(MostOutsideNormal, p.Slack+p.Lag)}
}

// Boundary notes a boundary, stable or tentative, and the age it came with.
func (w *Wait) Boundary(in int, t tuple.Time, age Age, now Instant) {
	i := &w.inputs[in]
	age = i.counted(age.clamped(), t, now, w.settings)
	if n := len(i.known); n > 0 {
		if t <= i.known[n-1].to {
			return
		}
		if n == mostOrigins {
			i.known = i.known[:copy(i.known, i.known[n/2:])]
		}
	}
	i.normal = age.Normal // what it completes counts by it, so both change at once
	o := origin{to: t, at: now - Instant(age.Total), came: now, before: i.last.to, since: i.last.at}
	i.known, i.last = append(i.known, o), o
	i.loose = i.loose.boundary(t, now)
}

// counted returns what counts of the age of a boundary. One that says nothing is taken for one that has just come.
func (i *waitInput) counted(age Age, t tuple.Time, now Instant, s *Settings) Age {
	if age == (Age{}) {
		age = Age{Total: i.normal, Normal: i.normal}
	}
	if i.outside == nil {
		return age
	}
	return i.outside.believed(age, t, now, s)
}

// Normal is what of the age of a bucket that is complete is normal, by what its inputs have said: the most that is of any. A
// bucket waits for the last of them.
func (w *Wait) Normal() int64 {
	most := int64(0)
	for n := range w.inputs {
		most = max(most, w.inputs[n].normal)
	}
	return most
}

// normal is how old a bucket is when nothing has failed, as the SUnion at p sees it.
func (w *Wait) normal(p Place) int64 {
	return p.Skew + max(p.Slack+p.Lag+p.Latency, w.Normal()) + w.settings.BoundaryInterval
}

// slack is how far rows may be ahead of the boundary that completes them. Of a stream from outside it is not known apart.
func (w *Wait) slack(p Place) int64 {
	most := p.Slack
	for n := range w.inputs {
		if i := &w.inputs[n]; i.outside != nil {
			most = max(most, i.normal)
		}
	}
	return most + p.Skew
}

// Rows notes that rows up to a stime have come, with no boundary yet.
func (w *Wait) Rows(in int, high tuple.Time, now Instant) {
	i := &w.inputs[in]
	if high != tuple.MinTime {
		i.loose = i.loose.rows(high, w.settings.Bucket, now)
	}
}

// Shift moves every clock: the node stood still for so long.
func (w *Wait) Shift(gap int64) {
	for n := range w.inputs {
		i := &w.inputs[n]
		for k := range i.known {
			i.known[k].shift(gap)
		}
		i.last.shift(gap)
		i.loose.shift(gap)
	}
}

func (o *origin) shift(gap int64) {
	o.at, o.came, o.since = o.at.Add(gap), o.came.Add(gap), o.since.Add(gap)
}

// Passed forgets buckets before a stime: they have been let go.
func (w *Wait) Passed(to tuple.Time) {
	for n := range w.inputs {
		i := &w.inputs[n]
		k := 0
		for k < len(i.known) && i.known[k].to <= to {
			k++
		}
		if k > 0 {
			i.known = i.known[:copy(i.known, i.known[k:])]
		}
		i.loose = i.loose.forget(to)
	}
}

// Known is what is known of the oldest stretch of buckets that have not been let go.
type Known struct {
	End tuple.Time
	// From is the instant from which their delay counts: what is normal is taken off. Came is when the first news came.
	From Instant
	Came Instant
}

// Next returns the oldest stretch of buckets behind a stime of which something has come, as the SUnion at p has to see
// it; ok is false if nothing has.
func (w *Wait) Next(after tuple.Time, p Place) (k Known, ok bool) {
	k.End = tuple.MaxTime
	for n := range w.inputs {
		i := &w.inputs[n]
		for o, found := i.covering(after); found; o, found = i.covering(o.to) {
			if to := o.to.FloorTo(w.settings.Bucket, 0); to > after {
				if after != tuple.MinTime && o.jumps(w.settings) {
					to = min(to, after.Add(max(w.settings.Bucket, int64(o.to-o.before)/mostSteps)).FloorTo(w.settings.Bucket, 0))
				}
				k.End, ok = min(k.End, to), true
				break
			}
		}
	}
	if ok {
		k.From, k.Came = w.since(k.End)
		k.From = k.From.Add(w.normal(p))
		return k, true
	}
	return w.nextLoose(after, p)
}

// nextLoose does it for rows of which no boundary has come.
func (w *Wait) nextLoose(after tuple.Time, p Place) (k Known, ok bool) {
	for n := range w.inputs {
		l, found := w.inputs[n].loose.beyond(after)
		if found && (!ok || l.came < k.Came) {
			due := l.came.Add(w.settings.Bucket + w.settings.BoundaryInterval + w.slack(p))
			k, ok = Known{End: bucketEnd(l.to, w.settings.Bucket), From: due, Came: l.came}, true
		}
	}
	return k, ok
}

// since is when the buckets up to end began to be due at the input where that was first, and when the first news came.
func (w *Wait) since(end tuple.Time) (first, came Instant) {
	first, came = Never, Never
	for n := range w.inputs {
		if o, ok := w.inputs[n].covering(end - 1); ok {
			first, came = min(first, o.due(end, w.settings)), min(came, o.came)
		}
	}
	return first, came
}

// Age is how old the buckets up to end are, as the SUnion at p has to see it, by the oldest input that knows of them; 0 if
// none does. It is negative where an input has promised its part ahead of time, as one does whose windows have just closed.
func (w *Wait) Age(end tuple.Time, p Place, now Instant) int64 {
	first, _ := w.since(end)
	if first != Never {
		return int64(now - first)
	}
	age := int64(0)
	for n := range w.inputs {
		// No boundary has come: they have been due since the next bucket began.
		if l, found := w.inputs[n].loose.beyond(end.Add(-w.settings.Bucket)); found {
			age = max(age, int64(now-l.at)-w.settings.Bucket-w.settings.BoundaryInterval-w.slack(p)+w.normal(p))
		}
	}
	return age
}

// Late is by how much the buckets up to end are older, as the SUnion at p sees it, than is normal.
func (w *Wait) Late(end tuple.Time, p Place, now Instant) int64 {
	if end == tuple.MinTime || end == tuple.MaxTime {
		return 0
	}
	return w.Age(end, p, now) - w.normal(p)
}

// Missing is an input that a bucket lacks.
type Missing struct {
	Condition Condition
	// Idle: nobody above gives up first, for it comes from a source, or from replicas of which one has given nothing and the
	// others have yet to show that they do. To wait for it longer than for one that has failed would only spend what is kept
	// in reserve for losing a replica as well.
	Idle bool
	// Redo: the replica has to come to it with its own redo.
	Redo bool
}

// Situation is what decides how long a bucket is held.
type Situation struct {
	// First: nothing tentative has been let go since the stream was last stable.
	First  bool
	Policy Policy
	Known
}

// Deadline returns until when a bucket is held for the inputs that it lacks; Never for ever, and while one of them has yet
// to begin: what is judged then is whether it has failed.
func (s *Settings) Deadline(p Place, at Situation, lacks []Missing) Instant {
	if s.MaxDelay == Unbounded || s.Consistency == StableOnly || at.Policy == Suspend {
		return Never
	}
	until := Instant(0)
	lives := false
	for _, m := range lacks {
		if m.Condition == Waiting {
			return Never
		}
		lives = lives || m.Condition != Failed
		until = max(until, at.From.Add(s.limit(p, at, m)))
	}
	if late := at.From.Add(s.MaxDelay); at.Came >= late {
		// It came beyond the bound: a backlog. Holding it longer does not save it, unless what it lacks is on its way.
		wait := s.Heartbeat + s.Grace
		if lives {
			wait = s.stall()
		}
		return at.Came.Add(wait)
	}
	return until
}

// limit is the hold time for one missing input.
func (s *Settings) limit(p Place, at Situation, m Missing) int64 {
	switch {
	case m.Redo:
		return s.redoLimit(p)
	case m.Condition == Live && m.Idle:
		return s.failedLimit(p)
	case m.Condition == Live:
		return s.liveLimit(p)
	case at.First || at.Policy == Delay:
		return s.failedLimit(p)
	default:
		return s.shortLimit(p)
	}
}
