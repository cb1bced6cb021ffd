package dcaa

import "fednode/query/tuple"

// suffix is what is known of Q; its rows are with the taker.
type suffix struct {
	held     bool
	run      tuple.Run
	conn     uint64     // that brings it
	boundary tuple.Time // no row of it below is missing
	high     tuple.Time // the largest stime of its rows, which may be beyond the boundary
	missing  []tuple.Missing
}

// takeTentative extends Q. What lies before its boundary is held already, from this producer or from another.
func (i *Intake) takeTentative(c *conn, f *tuple.Frame) {
	switch {
	case !i.q.held:
		i.q = i.suffixOf(c, f.Run)
	case i.q.conn != c.id:
		// What lies beyond the boundary comes again, be it of the same run.
		i.leave(i.q.conn)
		i.taker.Trim(i.q.boundary)
		i.q.run, i.q.conn, i.q.high = f.Run, c.id, min(i.q.high, i.q.boundary-1)
	case i.q.run != f.Run:
		// The producer opened another run; its word that the one before is over may have been passed over.
		i.undo()
		i.q = i.suffixOf(c, f.Run)
	}
	i.q.boundary = max(i.q.boundary, i.pos.Time)
	if len(f.Missing) > 0 {
		i.q.missing = f.Missing
	}
	if f.Kind == tuple.Tentative {
		if f = from(f, i.q.boundary); f != nil {
			i.q.high = max(i.q.high, latest(f.Batch))
			i.taker.TentativeRows(f)
		}
		return
	}
	if f.Time > i.q.boundary {
		i.q.boundary = f.Time
		i.taker.TentativeBoundary(f.Time, AgeOf(f))
	}
}

// leave ends the connection that brought the suffix if rows of it are about to be forgotten: what it gives behind them would leave
// a hole. It is asked for anew from the boundary on.
func (i *Intake) leave(id uint64) {
	for _, slot := range i.slots() {
		if c := *slot; c != nil && c.id == id && i.q.high >= i.q.boundary {
			i.close(slot)
		}
	}
}

// suffixOf is a suffix that begins where P ends.
func (i *Intake) suffixOf(c *conn, run tuple.Run) suffix {
	return suffix{held: true, run: run, conn: c.id, boundary: i.pos.Time, high: tuple.MinTime}
}

func (i *Intake) undo() {
	run := i.q.run
	i.q = suffix{}
	i.taker.Undo(run)
	// A connection that was to carry the suffix on would leave a hole now.
	if i.next != nil && i.next.tentative && i.next.from > i.pos.Time {
		i.close(&i.next)
	}
}

func (i *Intake) done() {
	run := i.q.run
	i.q = suffix{}
	i.taker.Done(run)
}
