package dcaa

import (
	"slices"

	"fednode/query/tuple"
)

const second = int64(1_000_000)

// Heard takes what a producer's heartbeat says of the stream.
func (i *Intake) Heard(now Instant, producer int, s StreamStatus) {
	p := &i.producers[producer]
	if was := p.status.Generation; was != 0 && s.Generation != was {
		p.begin(now)
	}
	if s.State != p.status.State || s.Boundary > p.boundary {
		p.dry = false
	}
	switch {
	case s.State != UpstreamFailure:
		p.gaveUp, p.lateUntil = Never, 0
	case p.gaveUp == Never:
		p.gaveUp = now
	}
	p.status, p.heard = s, true
	p.moved(now, s.Boundary, Age{}, i.cfg.Settings)
	i.compare(check{generation: s.Generation, boundary: s.Boundary, sum: s.Sum, producer: producer})
	i.choose(now)
}

// Measured notes what is known of the way from a producer.
func (i *Intake) Measured(producer int, w Way) { i.producers[producer].way = w }

// Reachable says whether a producer is heard and hears us.
func (i *Intake) Reachable(now Instant, producer int, up bool) {
	p := &i.producers[producer]
	if p.up == up {
		return
	}
	if !up && i.data != nil && i.data.producer == producer && p.heard {
		p.stalls()
		p.stall.silent = true
	}
	p.up, p.heard, p.dry, p.lateUntil, p.meanUntil, p.gaveUp = up, false, false, 0, 0, Never
	if p.downAt = now; up {
		p.begin(now) // in another life it may hold other rows
		i.anew(producer)
	}
	i.choose(now)
}

// anew ends the connections to a producer that was away: what has waited on its way meanwhile would seem as new as it was
// when it was sent. Asked for again, it comes with the age that it has.
func (i *Intake) anew(producer int) {
	for _, c := range i.slots() {
		if *c != nil && (*c).producer == producer && (*c).open {
			i.close(c)
		}
	}
}

// Owe says whether the consumer owes credit: then a boundary that does not come is its own overload, not a failure.
func (i *Intake) Owe(owing bool) { i.owing = owing }

// Opened grants a connection.
func (i *Intake) Opened(now Instant, id uint64) {
	c := i.conn(id)
	if c == nil {
		return
	}
	c.open, c.movedAt, c.cameAt = true, now, now
	if c == i.next && (i.data == nil || !i.data.open || i.rank(now, i.data.producer) <= unknown) {
		i.promote()
	}
	i.choose(now)
}

// Refused declines a connection, for now.
func (i *Intake) Refused(now Instant, id uint64) {
	if c := i.conn(id); c != nil {
		i.producers[c.producer].refused(now)
		i.drop(now, c)
		i.choose(now)
	}
}

// Truncated declines a connection: the producer holds nothing before first any more.
func (i *Intake) Truncated(now Instant, id uint64, first tuple.Position) {
	if c := i.conn(id); c != nil {
		i.lacks(now, c, first, nil)
	}
}

// lacks ends a connection to a producer that could go on only behind rows which the consumer does not hold.
func (i *Intake) lacks(now Instant, c *conn, oldest tuple.Position, gap *tuple.Frame) {
	p := &i.producers[c.producer]
	if !reaches(i.pos, oldest) { // else what the connection lacked has come over another one meanwhile
		p.lacks(i.pos, oldest, gap)
	}
	p.refused(now)
	i.drop(now, c)
	i.choose(now)
}

// Closed ends a connection from the other side. A producer that grants a stream and gives nothing new of it is asked more
// and more rarely, like one that declines.
func (i *Intake) Closed(now Instant, id uint64) {
	if c := i.conn(id); c != nil {
		if !c.gave {
			i.producers[c.producer].refused(now)
		}
		i.drop(now, c)
		i.choose(now)
	}
}

// Tick lets time pass.
func (i *Intake) Tick(now Instant) { i.choose(now) }

// Due is when Tick has something to do if nothing else happens before.
func (i *Intake) Due(now Instant) Instant {
	due := Never
	if at := i.AbandonAt(); at > now {
		due = at
	}
	if at := i.starvedAt(now); at > now && i.lender(now) >= 0 {
		due = min(due, at)
	}
	for n := range i.producers {
		p := &i.producers[n]
		if !p.up {
			continue
		}
		if p.retryAt > now {
			due = min(due, p.retryAt)
		}
		if at := p.overdueAt(i.cfg.Settings).Add(1); at > now {
			due = min(due, at)
		}
		if at := p.outrunAt(i.cfg.Settings).Add(1); at > now {
			due = min(due, at)
		}
		if p.dry && p.askAt > now {
			due = min(due, p.askAt)
		}
		if p.lost && p.meanUntil > now {
			due = min(due, p.meanUntil)
		}
		if p.pretence.believeAt > now {
			due = min(due, p.pretence.believeAt)
		}
		if at := p.movedAt.Add(lead(i.cfg.Settings)).Add(1); p.status.Holding > 0 && at > now {
			due = min(due, at)
		}
		if at := p.gaveUp.Add(lead(i.cfg.Settings)).Add(1); p.gaveUp != Never && at > now {
			due = min(due, at)
		}
	}
	if i.data != nil {
		// Nothing else may happen until a stall has lasted long enough.
		if at := i.forbearsUntil(now); at > now {
			due = min(due, at)
		}
		if at := i.data.claimsAt.Add(patience); at > now {
			due = min(due, at)
		}
	}
	if c := i.data; c != nil && c.open && len(i.producers) > 1 {
		if at := c.cameAt.Add(patience); at > now {
			due = min(due, at)
		}
	}
	for _, c := range []*conn{i.data, i.next, i.loan} {
		if c == nil || !c.open {
			continue
		}
		if at := i.idleAt(c).Add(1); at > now {
			due = min(due, at)
		}
	}
	return due
}

// Resume goes on at a position that the consumer has reached by other means, such as a state transfer.
func (i *Intake) Resume(now Instant, at tuple.Position) {
	for _, c := range i.slots() {
		if *c != nil {
			i.close(c)
		}
	}
	i.pos, i.q = at, suffix{}
	for n := range i.producers {
		i.producers[n].found()
		i.producers[n].forgive()
	}
	i.choose(now)
}

// Condition says how the input fares.
func (i *Intake) Condition(now Instant) Condition {
	if !i.begun && i.pos.ID == 0 && i.pos.Time == tuple.MinTime && now < i.began.Add(i.cfg.Settings.InitDelay) {
		return Waiting
	}
	for _, c := range []*conn{i.data, i.next} {
		// One that has just been asked has not answered yet: to give up within that round trip would lose what it gives.
		if c != nil && (c.open || c == i.next) && !i.producers[c.producer].dry && i.rank(now, c.producer) > stalled {
			return Live
		}
	}
	if c := i.loan; c != nil && c.open && now <= i.idleAt(c) {
		return Live
	}
	return Failed
}

// Unproven reports whether all that the input is read from has been asked for tentative results in place of a replica that
// gave none, and has given nothing yet either. It lives, but may well lack the same inputs as that one.
func (i *Intake) Unproven() bool {
	asked := false
	for _, c := range []*conn{i.data, i.next} {
		if c == nil || i.producers[c.producer].dry {
			continue
		}
		if asked = true; c.gave || i.producers[c.producer].status.State != UpstreamFailure {
			return false
		}
	}
	return asked && slices.ContainsFunc(i.producers, func(p producer) bool { return p.dry })
}

// WaitsUntil is when a stream that has never given a boundary counts as failed.
func (i *Intake) WaitsUntil() Instant { return i.began.Add(i.cfg.Settings.InitDelay) }

// Way returns what the way of a connection adds to ages.
func (i *Intake) Way(conn uint64) Age {
	if c := i.conn(conn); c != nil {
		return i.producers[c.producer].way.Age()
	}
	return Age{}
}

// Resumed says that the consumer stood still for so long: silence in that time means nothing.
func (i *Intake) Resumed(now Instant, gap int64) {
	for n := range i.producers {
		p := &i.producers[n]
		p.movedAt = min(now, p.movedAt.Add(gap))
		p.behindAt = min(now, p.behindAt.Add(gap))
		p.downAt = min(now, p.downAt.Add(gap))
	}
	for _, c := range []*conn{i.data, i.next, i.loan} {
		if c != nil {
			c.movedAt = min(now, c.movedAt.Add(gap))
			c.cameAt = min(now, c.cameAt.Add(gap))
			if c.claimsAt != Never {
				c.claimsAt = min(now, c.claimsAt.Add(gap))
			}
		}
	}
	i.began = min(now, i.began.Add(gap))
	if i.lostSince != Never {
		i.lostSince = min(now, i.lostSince.Add(gap))
	}
	if i.missed.since != Never {
		i.missed.since = min(now, i.missed.since.Add(gap))
	}
}

// Current reports whether the consumer has caught up with the producer that it reads from.
func (i *Intake) Current() bool {
	if i.data == nil || !i.data.open {
		return false
	}
	p := &i.producers[i.data.producer]
	return p.heard && i.pos.Time >= p.status.Boundary
}

// StableReachable reports whether a stable replica can be reached that gives more than the consumer holds, or soon will.
func (i *Intake) StableReachable(now Instant) bool {
	for n := range i.producers {
		p := &i.producers[n]
		if i.rank(now, n) == stable && !p.lost && p.status.Holding == 0 {
			return true
		}
	}
	return false
}

// Lives reports whether a reachable producer is stable or about to correct: a redo may count on it.
func (i *Intake) Lives(now Instant) bool {
	for n := range i.producers {
		if r := i.rank(now, n); r == stable || r == correcting || r == starting {
			return true
		}
	}
	return false
}

// Told is the furthest boundary that a reachable producer has, MinTime if none has any.
func (i *Intake) Told() tuple.Time { return i.furthest() }

func (i *Intake) furthest() tuple.Time {
	far := tuple.MinTime
	for n := range i.producers {
		if p := &i.producers[n]; p.up && !p.silent && p.pretence.times == 0 {
			far = max(far, p.boundary)
		}
	}
	return far
}

func (i *Intake) rank(now Instant, n int) rank {
	owing := i.owing && i.data != nil && i.data.producer == n
	p := &i.producers[n]
	r := p.rank(now, i.cfg.Settings, owing)
	switch {
	case r == tentative || r == restless:
		if !owing && i.idle(now, n) || p.dry && now < p.askAt {
			return stalled
		}
		if now < p.lateUntil || p.status.Holding > i.cfg.Settings.MaxDelay {
			return late
		}
	case r == stable && !owing && i.ahead(now, n):
		return correcting
	}
	return r
}

// idle reports whether a producer that is read from for its tentative results gives none: it may have lost all its inputs.
func (i *Intake) idle(now Instant, n int) bool {
	for _, c := range []*conn{i.data, i.next} {
		if c != nil && c.producer == n && c.tentative && c.open && now > i.idleAt(c) {
			return true
		}
	}
	return false
}

// idleAt is until when a connection may bring no results. One that holds a bucket has not lost all its inputs: it waits for
// one that has come back or has just failed, and gives up before its consumers have to. It is believed for as long as the
// bucket may be held at all, and that is the less the later the one before has come: it may have lost its last input since,
// and has nothing to give up then.
func (i *Intake) idleAt(c *conn) Instant {
	s := i.cfg.Settings
	at := c.overdueAt(s)
	if i.producers[c.producer].status.Holding > 0 {
		at = max(at, c.movedAt.Add(s.tick()-c.delay).Add(s.latest()))
	}
	return at
}

// ahead reports whether another replica is ahead of a stable one that holds a bucket: it has given up what this one waits
// for, as after a standstill that put this one's hold times off. The stable one is good for what it has got further with
// then, as one that makes corrections is, and not for new tuples.
func (i *Intake) ahead(now Instant, n int) bool {
	p := &i.producers[n]
	by := lead(i.cfg.Settings)
	if p.status.Holding == 0 || p.boundary == tuple.MinTime {
		return false
	}
	if i.q.held && i.q.boundary > p.boundary.Add(by) {
		return true
	}
	if now <= p.movedAt.Add(by) {
		return false
	}
	for m := range i.producers {
		if o := &i.producers[m]; m != n && o.gaveUp != Never && now > o.gaveUp.Add(by) && i.rank(now, m) >= restless {
			return true
		}
	}
	return false
}

// lead is how far a replica is ahead that makes one which holds count for less: two buckets.
func lead(s *Settings) int64 { return 2 * s.tick() }

// choose keeps the connections what the rules want.
func (i *Intake) choose(now Instant) {
	i.doubt(now)
	i.pretends(now)
	i.dry(now)
	far := i.furthest()
	for n := range i.producers {
		i.producers[n].follow(now, far)
		i.producers[n].reached(i.pos)
	}
	i.lenient.look(now, i.producers, i.cfg.Settings)
	i.chooseData(now)
	i.chooseCorrect(now)
	i.noteIdle(now)
	i.noteLost(now)
	i.chooseLoan(now)
}

// doubt notes that the producer which is read from tells of more and gives nothing, if another one can be asked: else the
// rest would count as outrun by what nobody gets.
func (i *Intake) doubt(now Instant) {
	c := i.data
	if c == nil || !c.open || i.owing || now < c.cameAt.Add(patience) {
		return
	}
	p := &i.producers[c.producer]
	if p.silent || !p.heard || p.boundary <= i.pos.Time {
		return
	}
	for n := range i.producers {
		if o := &i.producers[n]; n != c.producer && o.up && o.heard && !o.silent && !o.lost {
			p.silent, p.told = true, p.boundary
			return
		}
	}
}

// dry notes who was asked for tentative results and gives none. It is asked again now and then, but nothing is held for it.
func (i *Intake) dry(now Instant) {
	if i.owing {
		return
	}
	for n := range i.producers {
		if p := &i.producers[n]; p.status.State == UpstreamFailure && i.idle(now, n) {
			p.dry, p.askAt = true, now.Add(second)
		}
	}
}

// chooseData opens a better source of data, or the first.
func (i *Intake) chooseData(now Instant) {
	best := i.best(now)
	if i.next != nil && i.data != nil && i.timely(now, i.next.producer) {
		i.close(&i.next)
	}
	if i.next != nil {
		if best < 0 || best == i.next.producer || i.rank(now, best) <= i.rank(now, i.next.producer) {
			return
		}
		i.close(&i.next)
	}
	if best < 0 {
		return
	}
	if i.data == nil {
		i.next = i.open(best, i.cfg.Tentative, "")
		return
	}
	if best == i.data.producer {
		return
	}
	if i.rank(now, i.data.producer) == stalled {
		i.producers[i.data.producer].stalls()
	}
	if !i.better(now, best) {
		return
	}
	i.next = i.open(best, i.cfg.Tentative, i.because(now, i.data.producer))
}

// better reports whether data should move to a producer of higher rank. Nothing ranks above one that is STABLE, so it is not
// left for another while it is.
func (i *Intake) better(now Instant, n int) bool {
	have, want := i.rank(now, i.data.producer), i.rank(now, n)
	if want <= have {
		return false
	}
	if have == stalled && i.forbears(now) {
		return false
	}
	if i.timely(now, n) {
		return false
	}
	if (have == tentative || have == restless || have == late) && want == stable {
		return i.producers[n].boundary > i.pos.Time
	}
	return true
}

// best returns the producer to read from, -1 if nobody can be asked now.
func (i *Intake) best(now Instant) int {
	best := -1
	for k := range i.producers {
		n := (i.cfg.Preferred + k) % len(i.producers)
		p := &i.producers[n]
		asked := i.data != nil && i.data.producer == n || i.next != nil && i.next.producer == n
		if r := i.rank(now, n); r == unreachable || !asked && (p.retryAt > now || p.lost) {
			continue
		}
		if best < 0 || i.prefer(now, n, best) {
			best = n
		}
	}
	return best
}

// prefer compares two producers. One of the generation that the consumer is in comes before all others; whoever is in none
// begins with the oldest. Among equals the present one stays, then comes one that holds its buckets for less, since one that
// stood still holds them for so much longer, then the one with the shorter way.
func (i *Intake) prefer(now Instant, a, b int) bool {
	if ka, kb := i.kin(now, a), i.kin(now, b); ka != kb {
		return ka
	}
	if ra, rb := i.rank(now, a), i.rank(now, b); ra != rb {
		return ra > rb
	}
	if i.pos.Generation == 0 && i.older(a, b) != i.older(b, a) {
		return i.older(a, b)
	}
	if i.data != nil && (i.data.producer == a || i.data.producer == b) {
		return i.data.producer == a
	}
	ha, hb := i.producers[a].status.Holding, i.producers[b].status.Holding
	if by := lead(i.cfg.Settings); ha+by < hb || hb+by < ha {
		return ha < hb
	}
	const worth = 2000 // microseconds; less is noise
	return i.producers[a].way.RoundTrip+worth < i.producers[b].way.RoundTrip
}

// chooseCorrect takes corrections from a replica that makes them while the data connection is not stable.
func (i *Intake) chooseCorrect(now Instant) {
	wanted := -1
	if i.data != nil && i.rank(now, i.data.producer) != stable {
		for n := range i.producers {
			p := &i.producers[n]
			if n == i.data.producer || i.next != nil && n == i.next.producer || p.lost {
				continue
			}
			if i.rank(now, n) == correcting && p.boundary > i.pos.Time && (i.corrects(n) || p.retryAt <= now) {
				wanted = n
				break
			}
		}
	}
	switch {
	case i.correct != nil && i.keepCorrect(now, wanted):
	case i.correct != nil:
		i.close(&i.correct)
	}
	if i.correct == nil && wanted >= 0 {
		i.correct = i.open(wanted, false, "")
	}
}

func (i *Intake) corrects(n int) bool { return i.correct != nil && i.correct.producer == n }

// keepCorrect keeps a connection for corrections as long as data is not stable and it may still bring some.
func (i *Intake) keepCorrect(now Instant, wanted int) bool {
	if i.data == nil || wanted >= 0 && wanted != i.correct.producer {
		return i.data == nil
	}
	if i.correct.producer == i.data.producer || i.rank(now, i.data.producer) == stable && i.producers[i.data.producer].boundary <= i.pos.Time {
		return false
	}
	r := i.rank(now, i.correct.producer)
	return r == correcting || r == stable
}

func (i *Intake) open(producer int, tentatively bool, because string) *conn {
	return i.openAt(producer, i.pos, tentatively, because)
}

func (i *Intake) openAt(producer int, from tuple.Position, tentatively bool, because string) *conn {
	c := &conn{id: i.nextConn, producer: producer, tentative: tentatively, from: i.pos.Time, claimsAt: Never, lateAt: Never, guessed: tuple.MinTime, pace: pace{boundary: tuple.MinTime}}
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

// drop forgets a connection that has ended, or ends one that broke the rules.
func (i *Intake) drop(_ Instant, c *conn) {
	for _, slot := range i.slots() {
		if *slot == c {
			i.close(slot)
		}
	}
}

func (i *Intake) close(slot **conn) {
	id := (*slot).id
	*slot = nil
	i.shell.Close(id)
}
