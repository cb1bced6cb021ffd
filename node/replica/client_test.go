package replica

import (
	"slices"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// client reads one output from whichever node serves it best, and checks that what it holds is what was promised.
type client struct {
	w      *world
	output int
	intake *dcaa.Intake
	// P
	rows     []string
	boundary tuple.Time
	gaps     int
	// Q
	q        []tentativeRow
	segments []segment
	to       tuple.Time
	ever     int // tentative rows so far
	undone   int
	done     int
	worst    dcaa.Instant // the longest that it was behind what a source has given
}

type tentativeRow struct {
	at   tuple.Time
	text string
}

// segment is the stretch of Q that one run gave.
type segment struct {
	from tuple.Time
	run  tuple.Run
}

func newClient(w *world, output int) *client {
	c := &client{w: w, output: output, boundary: tuple.MinTime, to: tuple.MinTime}
	c.intake = dcaa.NewIntake(dcaa.IntakeConfig{Settings: &w.settings, Producers: w.names, From: tuple.Position{Time: tuple.MinTime},
		Tentative: w.settings.Consistency != dcaa.StableOnly}, w.now, c, c)
	return c
}

// Open asks a node.
func (c *client) Open(o dcaa.Opening) {
	if x := c.w.nodes[o.Producer]; x.r != nil {
		x.outputs[c.output].ask(c, o)
	}
}

// Close ends a connection.
func (c *client) Close(conn uint64) {
	for _, x := range c.w.nodes {
		x.outputs[c.output].drop(conn, c)
	}
}

func (c *client) opened(id uint64) { c.intake.Opened(c.w.now, id) }
func (c *client) closed(id uint64) { c.intake.Closed(c.w.now, id) }
func (c *client) truncated(id uint64, first tuple.Position) {
	c.w.later(func() { c.intake.Truncated(c.w.now, id, first) })
}

func (c *client) frame(id uint64, f *tuple.Frame) {
	if err := c.intake.Frame(c.w.now, id, f); err != nil {
		c.w.wrong("client: %v", err)
	}
	run, to, _, held := c.intake.Suffix()
	if held && len(c.segments) == 0 {
		c.segments = []segment{{from: c.boundary, run: run}}
	} else if held {
		c.segments[len(c.segments)-1].run = run
	}
	if held && f.Kind == tuple.TentativeBoundary {
		c.complete(to)
	}
}

// complete checks that no row of Q is missing between P's boundary and Q's.
func (c *client) complete(to tuple.Time) {
	held := map[tentativeRow]int{}
	for _, r := range c.q {
		held[r]++
	}
	for k, s := range c.segments {
		end := to
		if k+1 < len(c.segments) {
			end = c.segments[k+1].from
		}
		for _, r := range c.w.runs[runOutput{s.run, c.output}] {
			if r.at < max(s.from, c.boundary) || r.at >= end {
				continue
			}
			if held[r]--; held[r] < 0 {
				c.w.wrong("output %d: %q at %d ms of run %v is missing in Q, which is complete from %d to %d ms", c.output, r.text, r.at/ms, s.run, c.boundary/ms, to/ms)
			}
		}
	}
}

// Rows extend P: each has to be the next of a run without failures.
func (c *client) Rows(f *tuple.Frame) error {
	for _, r := range rows(f.Batch) {
		if c.w.reference != nil {
			want := c.w.reference.clients[c.output].rows
			if n := len(c.rows); n >= len(want) || want[n] != r {
				c.w.wrong("output %d: stable row %d is %q", c.output, n, r)
			}
		}
		c.rows = append(c.rows, r)
	}
	return nil
}

// Boundary takes from Q what it passes.
func (c *client) Boundary(t tuple.Time, _ dcaa.Age) {
	c.boundary = t
	c.q = slices.DeleteFunc(c.q, func(r tentativeRow) bool { return r.at < t })
}

// Gap counts.
func (c *client) Gap(*tuple.Frame) { c.gaps++ }

// TentativeRows extend Q.
func (c *client) TentativeRows(f *tuple.Frame) {
	times := tentativeRows(f.Batch)
	for _, r := range times {
		if r.at < c.boundary {
			c.w.wrong("output %d: a tentative row at %d ms, P is complete to %d ms", c.output, r.at/ms, c.boundary/ms)
		}
	}
	c.q, c.ever = append(c.q, times...), c.ever+len(times)
}

func tentativeRows(b *tuple.Batch) []tentativeRow {
	var out []tentativeRow
	for k, text := range rows(b) {
		out = append(out, tentativeRow{at: b.Time[b.Row(k)], text: text})
	}
	return out
}

// TentativeBoundary says how far Q reaches.
func (c *client) TentativeBoundary(t tuple.Time, _ dcaa.Age) { c.to = t }

// Trim forgets the end of Q: another run carries it on.
func (c *client) Trim(t tuple.Time) {
	c.q = slices.DeleteFunc(c.q, func(r tentativeRow) bool { return r.at >= t })
	c.segments = append(c.segments, segment{from: t})
}

// Undo forgets Q.
func (c *client) Undo(tuple.Run) { c.undone++; c.forget() }

// Done forgets Q.
func (c *client) Done(tuple.Run) { c.done++; c.forget() }

func (c *client) forget() { c.q, c.segments, c.to = nil, nil, tuple.MinTime }
