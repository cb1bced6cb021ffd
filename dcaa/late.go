package dcaa

import "fednode/query/tuple"

// lateFor is for how long a producer that was late is taken to be late, in microseconds: so often two that are both late now and
// then are exchanged at most.
const lateFor = 10 * second

// noteLate notes whether what a producer gives tentatively comes within the bound. A replica that gives up in time may still come
// beyond it, when the input that it has left is late itself, as over a link that has become narrow; another one may have that
// in time. What comes at once over a new connection has waited for us, and is no sign of it.
func (i *Intake) noteLate(now Instant, c *conn, f *tuple.Frame) {
	p := &i.producers[c.producer]
	switch {
	case AgeOf(f).After(p.way.Age()).Delay() <= i.cfg.Settings.latest():
		c.lateAt, p.lateUntil = Never, 0
	case c.lateAt == Never:
		c.lateAt = now
	case now > c.lateAt.Add(lead(i.cfg.Settings)):
		p.lateUntil = now.Add(lateFor)
	}
}

// belated reports whether a tentative frame of a connection that is to take the place of data is no reason for that: the suffix comes
// over data within the bound, and reaches further than this one, which is late. It may catch up yet, and is kept until it proves
// to be late. What it gives meanwhile is held already.
func (i *Intake) belated(now Instant, c *conn, f *tuple.Frame) bool {
	if i.data == nil || !i.given(now) || i.data.delay > i.cfg.Settings.latest() {
		return false
	}
	if f.Kind == tuple.Tentative && latest(f.Batch) >= i.q.boundary {
		return false
	}
	if f.Kind == tuple.TentativeBoundary && (f.Time > i.q.boundary || c.delay <= i.cfg.Settings.latest()) {
		return false
	}
	c.from = max(c.from, i.q.boundary)
	return true
}

// timely reports whether tentative results come over the data connection within the bound, and those of another producer would
// not: who redoes may serve meanwhile, and goes before one that has fallen behind, as after a standstill.
func (i *Intake) timely(now Instant, other int) bool {
	return i.rank(now, i.data.producer) == correcting && i.rank(now, other) == late && i.given(now) && i.data.delay <= i.cfg.Settings.latest()
}
