package dcaa

import "fednode/query/tuple"

// conn is a connection to one producer.
type conn struct {
	id        uint64
	producer  int
	tentative bool
	from      tuple.Time // TentativeFrom
	open      bool       // granted
	gave      bool       // something new has come of it
	cameAt    Instant    // when a frame came last, or it was granted, or asked for
	claimsAt  Instant    // since when it brings tentative results while its producer says STABLE; Never while it does not
	delay     int64      // of the boundary that came last: what has been added to what is normal, at least 0
	lateAt    Instant    // since when tentative boundaries come beyond the bound; Never while they do not
	guessed   tuple.Time // the largest stime of the rows that came of it tentatively
	pace                 // of what comes of it, stable or tentative
}

// drop forgets a connection that has ended, or ends one that broke the rules.
func (i *Intake) drop(_ Instant, c *conn) {
	for _, slot := range i.slots() {
		if *slot == c {
			i.close(slot)
		}
	}
}

// slots are the places of connections that are in use.
func (i *Intake) slots() []**conn { return []**conn{&i.data, &i.next, &i.correct, &i.loan} }

// conn finds a connection that is still in use.
func (i *Intake) conn(id uint64) *conn {
	for _, slot := range i.slots() {
		if c := *slot; c != nil && c.id == id {
			return c
		}
	}
	return nil
}

func (i *Intake) open(now Instant, producer int, tentatively bool, because string) *conn {
	return i.openAt(now, producer, i.pos, tentatively, because)
}

func (i *Intake) openAt(now Instant, producer int, from tuple.Position, tentatively bool, because string) *conn {
	c := &conn{id: i.nextConn, producer: producer, tentative: tentatively, from: i.pos.Time, cameAt: now, claimsAt: Never, lateAt: Never, guessed: tuple.MinTime, pace: pace{boundary: tuple.MinTime}}
	i.nextConn++
	if i.q.held {
		c.from = max(c.from, i.q.boundary)
	}
	i.shell.Open(Opening{Conn: c.id, Producer: producer, From: from, Tentative: tentatively, TentativeFrom: c.from, Because: because})
	return c
}

// promote makes the next connection the one that data comes from.
func (i *Intake) promote() {
	if i.data != nil {
		i.close(&i.data)
	}
	i.data, i.next = i.next, nil
	if i.correct != nil && i.correct.producer == i.data.producer {
		i.close(&i.correct)
	}
}

func (i *Intake) close(slot **conn) {
	id := (*slot).id
	*slot = nil
	i.shell.Close(id)
}
