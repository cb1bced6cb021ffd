package dcaa

import "fednode/query/tuple"

// While no producer within reach gives what comes next, nothing that comes can be taken for stable: one that is away may hold it
// (see AbandonAt), or one that is within reach waits for the state of another. A producer that has gone on with another history
// is read from all the same, where the consumer could go on with it: to the consumer that is tentative, be it stable there.

// chooseLoan keeps that connection. A consumer that makes something of the stream has to wait for the state of another one as well,
// whatever the producers hold, and what it makes of the rest is better than nothing: it reads on behind rows that are lost, too.
func (i *Intake) chooseLoan(now Instant) {
	if i.owing {
		return // nothing comes since it has not been looked at
	}
	i.noteMean(now)
	from := -1
	switch {
	case !i.cfg.Tentative || i.given(now):
	case i.cfg.Whole && (i.place() >= 0 || i.passedBy(now)), !i.cfg.Whole && now >= i.starvedAt(now):
		from = i.lender(now)
	}
	if i.loan != nil && i.loan.producer != from {
		i.close(&i.loan)
	}
	if from < 0 || i.loan != nil || !i.cfg.Whole && now >= i.AbandonAt() {
		return
	}
	if p := &i.producers[from]; p.retryAt <= now {
		i.loan = i.openAt(now, from, tuple.Position{Generation: p.oldest.Generation, ID: p.oldest.ID, Time: i.pos.Time}, true, "")
	}
}

// starvedAt is when a consumer has been given nothing for so long that it takes what is tentative: at once if nobody has what
// comes next; Never while somebody is asked for it. Who has given a boundary that was ahead of its time, as that of a window is,
// has nothing to give until then.
func (i *Intake) starvedAt(now Instant) Instant {
	switch c := i.data; {
	case i.passedBy(now):
	case i.next != nil || c != nil && !c.open || c == nil && i.place() < 0:
		return Never
	case c != nil:
		return max(c.cameAt, c.movedAt.Add(c.ahead)).Add(min(second, i.cfg.Settings.MaxDelay/2))
	}
	return 0
}

// passedBy reports whether nobody within reach both holds what comes next and gives anything now, though no place is known to go
// on at: best effort goes on at none where no stable results are made (see idles), and may still read from there.
func (i *Intake) passedBy(now Instant) bool {
	for n := range i.producers {
		if !i.producers[n].lost && i.rank(now, n) >= late {
			return false
		}
	}
	return i.cfg.Settings.Consistency == BestEffort
}

// given reports whether the suffix comes over the data connection: a loan beside it would be given the same rows.
func (i *Intake) given(now Instant) bool {
	return i.data != nil && i.q.held && i.q.conn == i.data.id && now <= i.idleAt(i.data)
}

// noteMean notes that what is read gives nothing, or that who was asked does not answer: it is the last choice for a while.
func (i *Intake) noteMean(now Instant) {
	switch c := i.loan; {
	case c == nil:
	case c.open && now > i.idleAt(c), !c.open && now >= c.cameAt.Add(patience):
		i.declines(now, c)
	}
}

// declines notes that somebody who was asked for a loan lends nothing: he is the last choice for a while.
func (i *Intake) declines(now Instant, c *conn) {
	if c == i.loan {
		i.producers[c.producer].meanUntil = now.Add(meanFor)
	}
}

// meanFor is for how long a producer is the last choice that was asked for a loan and gave nothing.
const meanFor = 10 * second

// lender returns the producer of another history to read from, -1 if there is none.
func (i *Intake) lender(now Instant) int {
	best := -1
	for n := range i.producers {
		if i.lends(now, n) && (best < 0 || i.kinder(now, n, best)) {
			best = n
		}
	}
	return best
}

// lends reports whether a producer may be read from for what it has of another history. Who makes something of the stream asks
// whoever it could go on with, but for one whose rows are not to be trusted; others take none that is worth less than one that
// gives late.
func (i *Intake) lends(now Instant, n int) bool {
	p := &i.producers[n]
	if i.cfg.Whole && i.place() >= 0 {
		return p.up && p.lost && !p.idles && !p.diverged
	}
	return p.lost && i.rank(now, n) >= late
}

// kinder compares two producers that lend: what they are known to give comes first, then the present one, and then the one that a
// consumer would go on with.
func (i *Intake) kinder(now Instant, a, b int) bool {
	if ga, gb := i.kindness(now, a), i.kindness(now, b); ga != gb {
		return ga > gb
	}
	if i.loan != nil && (i.loan.producer == a || i.loan.producer == b) {
		return i.loan.producer == a
	}
	return i.nearer(i.producers[a].oldest, i.producers[b].oldest)
}

// kindness grades what a producer gives of another history: nothing, what comes beyond the bound, or more.
func (i *Intake) kindness(now Instant, n int) int {
	switch {
	case now < i.producers[n].meanUntil:
		return 0
	case i.rank(now, n) == late:
		return 1
	}
	return 2
}

// Borrowed reports whether the suffix lacks rows that come before it, which nobody within reach holds.
func (i *Intake) Borrowed() bool { return i.q.held && i.loan != nil && i.q.conn == i.loan.id }

// borrow takes a frame of the loan: it extends Q, which bears one name whatever the rows are to their producer. Corrections of
// rows that Q is complete with are not needed, word of such that were lost there neither. If the producer takes some back,
// Q is begun anew; if it corrects some that Q is not complete with, Q is carried on anew from where it is: else they would stand
// in it twice.
func (i *Intake) borrow(now Instant, c *conn, f *tuple.Frame) {
	if i.chooseLoan(now); i.loan != c {
		return
	}
	lent := *f
	lent.Run = tuple.Run{Producer: i.producers[c.producer].name, N: c.id}
	switch f.Kind {
	case tuple.Insertion, tuple.Tentative:
		if f.Kind == tuple.Tentative {
			c.guessed = max(c.guessed, latest(f.Batch))
		} else if i.q.held && min(c.guessed, latest(f.Batch)) >= i.q.boundary {
			i.lendsAnew(now, c)
			return
		}
		lent.Kind, lent.Generation, lent.IDs = tuple.Tentative, 0, nil
	case tuple.Boundary, tuple.TentativeBoundary:
		lent.Kind, lent.Generation, lent.Sum = tuple.TentativeBoundary, 0, 0
		i.producers[c.producer].meanUntil = 0
		i.begun = true // when it fails, it is not waited for like one that has yet to begin
	case tuple.Undo:
		if i.q.held && i.q.conn == c.id {
			i.undo()
		}
		i.lendsAnew(now, c)
		return
	default:
		return
	}
	i.takeTentative(c, &lent)
	c.gave = true
}

// lendsAnew asks the lender again, soon.
func (i *Intake) lendsAnew(now Instant, c *conn) {
	i.producers[c.producer].refused(now)
	i.drop(now, c)
	i.choose(now)
}
