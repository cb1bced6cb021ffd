package dcaa

import (
	"fmt"

	"fednode/query/tuple"
)

// Opening asks for a stream from one producer.
type Opening struct {
	// Conn names the connection in later events; it is never used again.
	Conn     uint64
	Producer int
	// From is what the consumer holds of the stable stream.
	From tuple.Position
	// Tentative asks for tentative results too, from TentativeFrom on.
	Tentative     bool
	TentativeFrom tuple.Time
	// Because says why the producer that was read from is left for this one, for people; "" if none is.
	Because string
}

// IntakeShell performs what an Intake decides.
type IntakeShell interface {
	// Open asks a producer. Opened, Refused, Truncated or Closed answers.
	Open(o Opening)
	// Close ends a connection; nothing that still comes of it counts.
	Close(conn uint64)
}

// Taker takes what an Intake lets through, in order. Frames are owned by the taker. Its methods must not call back: above all not
// Hurry, by which the intake may leave the connection whose frame is being taken.
type Taker interface {
	// Rows are stable, and continue the ids.
	Rows(f *tuple.Frame) error
	// Boundary: no stable row below t will come.
	Boundary(t tuple.Time, age Age)
	// Gap: stable rows of a stretch will never come.
	Gap(f *tuple.Frame)
	// TentativeRows extend the tentative suffix; TentativeBoundary promises that none below t is missing.
	TentativeRows(f *tuple.Frame)
	TentativeBoundary(t tuple.Time, age Age)
	// Trim forgets tentative rows from t on: another replica carries the suffix on from there.
	Trim(t tuple.Time)
	// Undo forgets the suffix; Done says the same of one that has been replaced by stable rows.
	Undo(run tuple.Run)
	Done(run tuple.Run)
}

// IntakeConfig fixes an Intake.
type IntakeConfig struct {
	Settings *Settings
	// Producers are the replicas of the producer, the same list in the same order for everybody.
	Producers []string
	// From is where the consumer goes on.
	From tuple.Position
	// Tentative results are wanted.
	Tentative bool
	// Whole: what the consumer makes of the stream depends on all of it. Where it begins in a later generation than the first,
	// the taker is told by a GAP, as others were that have read the ones before.
	Whole bool
	// Preferred is the producer that is asked first among equals: consumers spread over replicas.
	Preferred int
}

// Intake is one stream as its consumer holds it: the choice of the replica that it is read from, and the rules of what
// of their frames counts. The consumer holds a stable prefix P up to a position, and, during a failure, a tentative
// suffix Q of one run.
type Intake struct {
	cfg       IntakeConfig
	shell     IntakeShell
	taker     Taker
	producers []producer
	nextConn  uint64
	data      *conn // what is read: P, and alone Q
	next      *conn // takes the place of data once it has delivered past it
	correct   *conn // brings corrections while data is not stable
	loan      *conn // brings Q alone, from another history or from behind lost rows, while there is no other
	hurried   bool  // the consumer does not wait
	lenient   leniency
	began     Instant
	owing     bool
	// P.
	pos   tuple.Position
	begun bool // a boundary has come since the intake began
	// dueAt is when P's boundary is due, or was; Never if that is not known.
	dueAt Instant
	// again: rows below may be given again by this generation, which began before. MinTime once a boundary of it has passed.
	again tuple.Time
	gap   gapHeard
	// lostSince is since when no reachable producer holds what comes next; Never if that is not so.
	lostSince Instant
	missed    givenUp // where that was so last
	skipped   givenUp // where it has gone on last that gave rows up
	// Q.
	q suffix
	checks
}

// NewIntake returns an intake that has asked nobody yet.
func NewIntake(cfg IntakeConfig, now Instant, shell IntakeShell, taker Taker) *Intake {
	i := &Intake{cfg: cfg, shell: shell, taker: taker, nextConn: 1, pos: cfg.From, again: cfg.From.Time, began: now, dueAt: Never, lostSince: Never, missed: givenUp{since: Never}, skipped: givenUp{since: Never}}
	for _, name := range cfg.Producers {
		i.producers = append(i.producers, producer{name: name, chased: tuple.MinTime, gaveUp: Never, downAt: now, pace: pace{boundary: tuple.MinTime, movedAt: now}})
	}
	return i
}

// Position is what the consumer holds of the stable stream.
func (i *Intake) Position() tuple.Position { return i.pos }

// Suffix returns the run of the tentative suffix, up to where it is complete, and which inputs its rows lack; held is
// false if there is none.
func (i *Intake) Suffix() (run tuple.Run, to tuple.Time, missing []tuple.Missing, held bool) {
	return i.q.run, i.q.boundary, i.q.missing, i.q.held
}

// Source returns the producer that data comes from, -1 if there is none.
func (i *Intake) Source() int {
	if i.data == nil {
		return -1
	}
	return i.data.producer
}

// SourceState returns what the producer that data comes from said last of the stream; false while it has said nothing, or
// there is none.
func (i *Intake) SourceState() (State, bool) {
	if i.data == nil || !i.producers[i.data.producer].heard {
		return 0, false
	}
	return i.producers[i.data.producer].status.State, true
}

// Frame takes a frame of a connection; one that is no longer in use says nothing. An error means that the producer broke
// the protocol: the connection has been closed, and it is asked anew.
func (i *Intake) Frame(now Instant, id uint64, f *tuple.Frame) error {
	c := i.conn(id)
	if c == nil {
		return nil
	}
	if !c.tentative && (f.Kind == tuple.Tentative || f.Kind == tuple.TentativeBoundary) {
		return nil // nobody asked for it, and that it comes says nothing
	}
	p := &i.producers[c.producer]
	c.cameAt = now
	switch f.Kind {
	case tuple.Boundary:
		p.gave(f.Time)
		p.moved(now, f.Time, AgeOf(f), i.mostAhead(now, f.Time), i.cfg.Settings)
	case tuple.Tentative, tuple.TentativeBoundary:
		p.inRun(now, f.Run)
		p.dry = false
	}
	if f.Kind == tuple.TentativeBoundary {
		i.noteLate(now, c, f)
	}
	if f.Kind == tuple.Boundary || f.Kind == tuple.TentativeBoundary {
		c.moved(now, f.Time, AgeOf(f), i.mostAhead(now, f.Time), i.cfg.Settings)
		c.delay = max(0, AgeOf(f).After(p.way.Age()).Delay())
	}
	if c == i.loan {
		i.borrow(now, c, f)
		return nil
	}
	if f.Kind == tuple.Gap && i.jumps(f) {
		// What this producer lacks another one may hold, or another replica of the consumer may have had: Skip takes the GAP.
		i.lacks(now, c, tuple.Position{Generation: f.Generation, ID: f.FirstID, Time: f.To}, f)
		return nil
	}
	if i.cfg.Whole && i.beginsLater(f) {
		i.pass(&tuple.Frame{Kind: tuple.Gap, Time: i.pos.Time, To: i.pos.Time, Generation: f.Generation, Reason: "the stream begins in a later generation"})
	}
	delivers := c == i.next && i.beyond(now, c, f)
	if delivers && (f.Kind == tuple.Tentative || f.Kind == tuple.TentativeBoundary) {
		i.promote() // they count on the data connection alone
	}
	before := i.pos
	err := i.take(c, f)
	if i.pos.Time > before.Time && f.Kind == tuple.Boundary {
		i.dueAt = now.Add(c.ahead)
	}
	if err == nil && delivers && c == i.next {
		i.promote()
	}
	if err == nil && !c.gave && (i.pos != before || i.q.held && i.q.conn == c.id) {
		c.gave = true
		p.forgive()
	}
	if f.Kind == tuple.Boundary && f.Sum != 0 && err == nil {
		i.checkFrame(now, c, f)
	}
	if err != nil {
		err = fmt.Errorf("from %s: %w", p.name, err)
		i.drop(now, c)
		p.refused(now)
		i.choose(now)
	}
	return err
}

// beyond reports whether a frame of a connection is something that the consumer does not hold yet.
func (i *Intake) beyond(now Instant, c *conn, f *tuple.Frame) bool {
	switch f.Kind {
	case tuple.Insertion:
		return !i.pos.Holds(f)
	case tuple.Boundary:
		return f.Time >= i.pos.Time
	case tuple.Tentative, tuple.TentativeBoundary:
		return !i.belated(now, c, f)
	}
	return false
}

// take applies the rules for P and Q.
func (i *Intake) take(c *conn, f *tuple.Frame) error {
	switch f.Kind {
	case tuple.Insertion:
		return i.takeRows(f)
	case tuple.Boundary:
		i.takeBoundary(f.Time, AgeOf(f))
	case tuple.Gap:
		i.takeGap(f)
	case tuple.Tentative, tuple.TentativeBoundary:
		if c == i.data {
			i.takeTentative(c, f)
		}
	case tuple.Undo:
		if i.q.held && i.q.run == f.Run {
			i.undo()
		}
	case tuple.RecDone:
		// Q may have got further under the run of another replica than the one whose name it bears now.
		if i.q.held && i.q.run == f.Run && i.pos.Time >= i.q.boundary {
			i.done()
		}
	}
	return nil
}

// takeRows extends P by what it does not hold.
func (i *Intake) takeRows(f *tuple.Frame) error {
	if i.pos.Holds(f) {
		return nil
	}
	if f.Generation != i.pos.Generation && i.pos.Generation != 0 {
		return fmt.Errorf("generation %d after %d without a gap", f.Generation, i.pos.Generation)
	}
	if f.FirstID > i.pos.ID+1 {
		return fmt.Errorf("ids %d to %d are missing", i.pos.ID+1, f.FirstID-1)
	}
	next, err := i.unpassed(f.After(i.pos.ID))
	if err == nil && next != nil {
		err = i.taker.Rows(next)
	}
	if err == nil {
		i.pos.ID, i.pos.Generation = f.LastID, f.Generation
	}
	return err
}

// unpassed returns what P's boundary has not passed of rows that continue the ids, nil if that is nothing. Rows below it are given
// again where a later generation begins before: by a source that has lost the end of its log, or a replica that follows another
// history. The consumer is done with those, also when it comes back to the place that it had stored among them. Any other row
// below it breaks the producer's promise. A consumer that makes something of the stream begins anew the bucket in which the
// boundary lies, and judges for itself.
func (i *Intake) unpassed(f *tuple.Frame) (*tuple.Frame, error) {
	if i.cfg.Whole {
		return f, nil
	}
	if i.again > tuple.MinTime {
		if f = from(f, i.again); f == nil {
			return nil, nil
		}
	}
	if t := earliest(f.Batch); t < i.pos.Time {
		return nil, fmt.Errorf("a row of %v after the boundary %v", t, i.pos.Time)
	}
	return f, nil
}

// takeBoundary moves the end of P, which takes from Q what it passes.
func (i *Intake) takeBoundary(t tuple.Time, age Age) {
	if t <= i.pos.Time {
		return
	}
	i.pos.Time, i.begun, i.again = t, true, tuple.MinTime
	i.taker.Boundary(t, age)
	// Rows beyond its boundary keep the suffix: what it is complete to may yet rise above them.
	if i.q.held && t >= i.q.boundary && t > i.q.high {
		i.done()
	}
}

// takeGap goes on behind rows that will never come.
func (i *Intake) takeGap(f *tuple.Frame) {
	switch {
	case i.pos.Compare(tuple.Position{Generation: f.Generation, ID: f.FirstID}) > 0 || i.gap.same(f):
	case !i.cfg.Whole && i.pos.Generation == 0 && f.To <= f.Time:
		i.pos.Generation, i.pos.ID = f.Generation, f.FirstID // that is where the stream begins for it
	default:
		i.pass(f)
	}
}

// beginsLater reports whether a frame is the first of the stream to name a generation, and not the first one.
func (i *Intake) beginsLater(f *tuple.Frame) bool {
	return i.pos.Generation == 0 && f.Generation > 1 && (f.Kind == tuple.Insertion || f.Kind == tuple.Boundary)
}

// pass goes on behind a gap, wherever that is.
func (i *Intake) pass(f *tuple.Frame) {
	if f.Generation != i.pos.Generation {
		i.again = i.pos.Time
	}
	i.pos.Generation, i.pos.ID = f.Generation, f.FirstID
	i.gap = gapHeard{f.Generation, f.FirstID, f.Time, f.To}
	i.taker.Gap(f)
}

// jumps reports whether a gap passes over rows that are not held.
func (i *Intake) jumps(f *tuple.Frame) bool {
	return i.pos.Generation != 0 && i.pos.Compare(tuple.Position{Generation: f.Generation, ID: f.FirstID}) < 0
}

// gapHeard is the last gap that was passed on: another connection may tell of it too.
type gapHeard struct {
	generation, id uint64
	from, to       tuple.Time
}

func (g gapHeard) same(f *tuple.Frame) bool {
	return f.Generation != 0 && g == gapHeard{f.Generation, f.FirstID, f.Time, f.To}
}
