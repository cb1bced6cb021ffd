package ingest

import (
	"fednode/query/tuple"
)

// Condition is what a connector says of itself.
type Condition uint8

// The conditions. Only a connected source with nothing to read can be idle.
const (
	// Reading: there is more to read now.
	Reading Condition = iota
	// Waiting: connected, and everything there is has been read.
	Waiting
	// Behind: connected, but late with what there is to read.
	Behind
	// Disconnected: what happens at the source is not known.
	Disconnected
	// Ended: the source has ended properly; nothing will follow.
	Ended
)

// String names the condition.
func (c Condition) String() string {
	return [...]string{"reading", "waiting", "behind", "disconnected", "ended"}[c]
}

// State is what a decision depends on besides the record it is about. It is logged with every commit and restored from
// the last one.
type State struct {
	// NextID is the id of the next accepted row.
	NextID uint64
	// High is the largest stime accepted so far, MinTime before the first.
	High tuple.Time
	// Idle is the recorded idle boundary.
	Idle tuple.Time
	// Boundary is the last one promised.
	Boundary tuple.Time
}

// Totals count what the decisions were, since the stream began.
type Totals struct {
	Rows    uint64 // accepted
	Late    uint64
	Future  uint64
	Clamped uint64 // accepted at another stime than their own, late or future
}

// Verdict says why a row was not accepted as it was.
type Verdict struct {
	// Row is the row's place in the input batch.
	Row uint32
	// Late, or else Future.
	Late bool
	// Limit is the time the row was held against: for a late row the earliest that would have been in time, for a future
	// one the latest.
	Limit tuple.Time
	// Accepted: the row was clamped to Limit; otherwise it was dropped or set aside.
	Accepted bool
}

// Commit is one decision, to be made durable before anything of it is sent.
type Commit struct {
	// Batch holds the accepted rows with their stimes; nil if there are none. Its ids are [FirstID, FirstID+rows).
	Batch   *tuple.Batch
	FirstID uint64
	// Verdicts of rows that were late or ahead, in order.
	Verdicts []Verdict
	// Boundary is the promise that follows the rows; it is the earlier one if nothing new can be promised.
	Boundary tuple.Time
}

// Decider holds the state of one source stream.
type Decider struct {
	cfg    Config
	state  State
	totals Totals
	// lastArrival is when the last row came, on the node's monotonic clock; quiet counts from it, or from the start.
	lastArrival tuple.Instant
	// reached is the stime that the quiet goes on from: the largest stime, or, if the quiet was cut short, how far it had got.
	reached tuple.Time
	started bool // a row has come in this life or an earlier one
	sel     []uint32
}

// New returns the decider of a stream that has seen nothing. now is the node's monotonic clock.
func New(cfg Config, now tuple.Instant) *Decider {
	return &Decider{cfg: cfg, state: State{NextID: 1, High: tuple.MinTime, Idle: tuple.MinTime, Boundary: tuple.MinTime}, lastArrival: now}
}

// Restore returns a decider that goes on from a logged state.
func Restore(cfg Config, s State, t Totals, now tuple.Instant) *Decider {
	d := &Decider{cfg: cfg, state: s, totals: t, started: s.High != tuple.MinTime}
	d.quietAnew(now)
	return d
}

// quietAnew begins to count quiet again, from where the boundary has got to: a source that was quiet for an hour before it
// was away for a second must not have to be quiet for another hour.
func (d *Decider) quietAnew(now tuple.Instant) {
	d.lastArrival, d.reached = now, d.state.High
	if d.state.Idle != tuple.MinTime && d.cfg.MaxOutOfOrder != Unbounded {
		d.reached = max(d.reached, d.state.Idle.Add(d.cfg.MaxOutOfOrder))
	}
}

// NoneBefore says, while the source is away, that no row that comes later will lie before an stime, as the wall clock does
// of rows whose time is their arrival.
func (d *Decider) NoneBefore(t tuple.Time) { d.reached = max(d.reached, t) }

// State returns what the next decision depends on.
func (d *Decider) State() State { return d.state }

// Totals returns the counts so far.
func (d *Decider) Totals() Totals { return d.totals }

// limit returns the earliest stime that is in time.
func (d *Decider) limit() tuple.Time {
	return max(behind(d.state.High, d.cfg.MaxOutOfOrder), d.state.Idle)
}

func behind(t tuple.Time, slack int64) tuple.Time {
	if slack == Unbounded {
		return tuple.MinTime
	}
	return t.Add(-slack)
}

// Rows decides about a batch whose Time column holds event times. The batch is owned and its Time column may be changed
// by clamping. arrival is the wall clock and now the monotonic clock at which it came.
func (d *Decider) Rows(b *tuple.Batch, arrival tuple.Time, now tuple.Instant) Commit {
	c := Commit{FirstID: d.state.NextID}
	latest := tuple.MaxTime
	if d.cfg.MaxFutureSkew != Unbounded {
		latest = arrival.Add(d.cfg.MaxFutureSkew)
	}
	n := b.Rows()
	if high, all := d.allInTime(b, latest); all {
		c.Batch, d.state.High = b, high
	} else {
		c.Batch, c.Verdicts = d.each(b, latest)
	}
	if n > 0 {
		d.started = true
		d.quietAnew(now)
	}
	if c.Batch != nil {
		d.reached = d.state.High
		accepted := uint64(c.Batch.Rows())
		d.state.NextID += accepted
		d.totals.Rows += accepted
	}
	d.state.Boundary = max(d.state.Boundary, d.limit())
	c.Boundary = d.state.Boundary
	return c
}

// allInTime reports whether every row of a batch is accepted as it is, which is the usual case, and the largest stime
// after it.
func (d *Decider) allInTime(b *tuple.Batch, latest tuple.Time) (high tuple.Time, all bool) {
	if b.Sel != nil || len(b.Time) == 0 {
		return 0, false
	}
	low := b.Time[0]
	last := low
	for _, t := range b.Time {
		low, last = min(low, t), max(last, t)
	}
	high = max(d.state.High, last)
	if last > latest {
		return 0, false
	}
	// A row that is in time after all the others is in time where it stands.
	return high, low >= max(behind(high, d.cfg.MaxOutOfOrder), d.state.Idle) || d.eachInTime(b.Time)
}

// eachInTime reports whether no row is late where it stands: a batch may span more than the slack.
func (d *Decider) eachInTime(times []tuple.Time) bool {
	high, limit := d.state.High, d.limit()
	for _, t := range times {
		if t < limit {
			return false
		}
		if t > high {
			high = t
			limit = max(behind(high, d.cfg.MaxOutOfOrder), d.state.Idle)
		}
	}
	return true
}

// each decides row by row.
func (d *Decider) each(b *tuple.Batch, latest tuple.Time) (accepted *tuple.Batch, verdicts []Verdict) {
	d.sel = d.sel[:0]
	for i := range b.Rows() {
		row := b.Row(i)
		if v, odd := d.row(b.Time[row], uint32(row), latest); odd {
			verdicts = append(verdicts, v)
			if !v.Accepted {
				continue
			}
			b.Time[row] = v.Limit
		}
		d.sel = append(d.sel, uint32(row))
	}
	return selected(b, d.sel), verdicts
}

// row decides about one row; odd is false for a row that is accepted as it is.
func (d *Decider) row(t tuple.Time, row uint32, latest tuple.Time) (v Verdict, odd bool) {
	limit := d.limit()
	switch {
	case t < limit:
		d.totals.Late++
		v = Verdict{Row: row, Late: true, Limit: limit, Accepted: d.cfg.Late == LateClamp}
	case t > latest:
		d.totals.Future++
		// A clamped row stays in time even where the limit has passed the arrival.
		v = Verdict{Row: row, Limit: max(latest, limit), Accepted: d.cfg.Future == FutureClamp}
	default:
		d.state.High = max(d.state.High, t)
		return Verdict{}, false
	}
	if v.Accepted {
		d.totals.Clamped++
		if v.Late {
			d.state.High = max(d.state.High, limit)
		}
	}
	return v, true
}

// selected returns the accepted rows as an owned batch, without a copy where all were.
func selected(b *tuple.Batch, sel []uint32) *tuple.Batch {
	switch len(sel) {
	case 0:
		return nil
	case len(b.Time):
		if b.Sel == nil {
			return b
		}
	}
	return (&tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: sel}).Clone()
}

// Tick decides whether a silent source has become idle and how far its boundary may follow the clock. It returns a
// commit to be logged, or ok = false if there is nothing to record.
func (d *Decider) Tick(now tuple.Instant, c Condition) (Commit, bool) {
	switch {
	case c == Ended:
		return d.end()
	case c != Waiting || !d.cfg.Advance:
		// Disconnected or behind is not idle: what happened there meanwhile is not known.
		if c == Behind || c == Disconnected {
			d.quietAnew(now)
		}
		return Commit{}, false
	}
	quiet := now.Sub(d.lastArrival)
	idle, ok := d.idleAt(quiet)
	if !ok || idle <= d.state.Boundary {
		return Commit{}, false
	}
	d.state.Idle = idle
	d.state.Boundary = max(d.state.Boundary, d.limit())
	return Commit{FirstID: d.state.NextID, Boundary: d.state.Boundary}, true
}

// idleAt returns the idle boundary after so much silence: the largest stime plus the time since it came, while the source
// was there, less the slack. So a source that lags keeps its lag, and a step of the wall clock changes nothing.
func (d *Decider) idleAt(quiet int64) (tuple.Time, bool) {
	if !d.started {
		if quiet < d.cfg.InitDelay || d.cfg.Start == tuple.MinTime {
			return 0, false
		}
		return d.cfg.Start.Add(quiet), true
	}
	if quiet < d.cfg.IdleAfter || d.cfg.MaxOutOfOrder == Unbounded {
		return 0, false
	}
	return d.reached.Add(quiet - d.cfg.MaxOutOfOrder), true
}

// end promises that nothing will follow.
func (d *Decider) end() (Commit, bool) {
	if d.state.Boundary == tuple.MaxTime {
		return Commit{}, false
	}
	d.state.Boundary, d.state.Idle = tuple.MaxTime, tuple.MaxTime
	return Commit{FirstID: d.state.NextID, Boundary: tuple.MaxTime}, true
}
