package dcaa

import "fednode/query/tuple"

// lateFor is for how long a producer that was late is taken to be late, in microseconds: so often two that are both late now and
// then are exchanged at most.
const lateFor = 10 * second

// timely notes whether what a producer gives tentatively comes within the bound. A replica that gives up in time may still come
// beyond it, when the input that it has left is late itself, as over a link that has become narrow; another one may have that
// in time. What comes at once over a new connection has waited for us, and is no sign of it.
func (i *Intake) timely(now Instant, c *conn, f *tuple.Frame) {
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
