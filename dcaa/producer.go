package dcaa

import "fednode/query/tuple"

// producer is one replica that gives a stream, as its consumer sees it.
type producer struct {
	name string
	// up: we hear it, and it hears us.
	up bool
	// downAt is since when it is not, if it is not.
	downAt Instant
	// status is what its last heartbeat said; heard is false until there was one in its present life.
	status StreamStatus
	heard  bool
	// pace is that of its stable boundary, as it told or sent it.
	pace
	// chased is a boundary that another producer had reached at behindAt and this one had not; MinTime if there is none.
	chased   tuple.Time
	behindAt Instant
	way      Way
	// retryAt: it is not asked again before, after a refusal; backoff is the next wait.
	retryAt Instant
	backoff int64
	// lost is set when it does not hold what we need next, which was behind lostAt; oldest is where it could go on, and gap
	// how it said so, if it did by a GAP.
	lost   bool
	lostAt tuple.Position
	oldest tuple.Position
	gap    *tuple.Frame
	// silence: it was asked and did not answer, or told of more than it gave. pretence: it said STABLE and gave tentative results.
	silence, pretence pretence
	// changedAt is when its stream was last said to be in another generation.
	changedAt Instant
	// idles: it is not waited for, since it makes no stable results and the consumer's are best effort.
	idles bool
	// diverged: its rows differ from those of another one, as far as their checksums have last been compared.
	diverged bool
	// dry: it was asked for tentative results and gave none; it is not asked again before askAt, and nobody waits for it.
	dry   bool
	askAt Instant
	// lateUntil: what it gives tentatively has come beyond the bound, and is taken to do so until then.
	lateUntil Instant
	// stall is the one that it is in, if it was read from when it began.
	stall stall
	// meanUntil: it was asked for what it has of another history and gave nothing; until then anyone else is asked for that first.
	meanUntil Instant
	// gaveUp is since when its heartbeats say UPSTREAM_FAILURE; Never while they do not.
	gaveUp Instant
	// runs are when the last runs that were read from it began.
	runs    [mostRuns + 1]Instant
	seen    uint64 // runs so far
	lastRun tuple.Run
}

// Waits after a refusal double from the first to the last.
const (
	firstRetry = 50_000
	lastRetry  = 2_000_000
)

// patience is for how long a connection may bring nothing, in microseconds, while its producer tells of more and another one
// can be asked: a single frame may take a while on a slow link.
const patience = 2 * second

// gave notes a boundary that came over a connection.
func (p *producer) gave(t tuple.Time) {
	p.silence.gave(t)
	p.pretence.gave(t)
}

// rank orders producers: data comes from the highest.
type rank uint8

const (
	unreachable rank = iota
	unknown          // up, and nothing is known of the stream yet
	stalled
	starting // behind those that give something
	correcting
	late     // tentative, but beyond the bound
	restless // tentative, but it changes its mind too often to be preferred
	tentative
	stable
)

// refused notes that the producer declined.
func (p *producer) refused(now Instant) {
	p.backoff = min(max(firstRetry, 2*p.backoff), lastRetry)
	p.retryAt = now.Add(p.backoff)
}

// forgive lets the producer be asked at once: it shows signs of life.
func (p *producer) forgive() { p.retryAt, p.backoff = 0, 0 }

// follow notes the highest boundary that any producer has reached. What counts is for how long this one has been behind
// it, not by how much: a stream that is replayed faster than it was recorded moves far in little time.
func (p *producer) follow(now Instant, furthest tuple.Time) {
	switch {
	case p.boundary >= furthest:
		p.chased = tuple.MinTime
	case p.chased == tuple.MinTime || p.boundary >= p.chased:
		p.chased, p.behindAt = furthest, now
	}
}

// outrun reports whether another producer has been ahead for too long.
func (p *producer) outrun(now Instant, s *Settings) bool { return now > p.outrunAt(s) }

// outrunAt is until when it may stay behind; Never if it is not.
func (p *producer) outrunAt(s *Settings) Instant {
	intervals := int64(3)
	if p.status.Holding > 0 {
		intervals = 2
	}
	if p.chased == tuple.MinTime {
		return Never
	}
	return p.behindAt.Add(intervals * s.tick())
}

// reached forgets that rows were gone there, once the consumer has got them elsewhere.
func (p *producer) reached(at tuple.Position) {
	if p.lost && at.Compare(p.lostAt) > 0 && reaches(at, p.oldest) {
		p.found()
	}
}

// reaches reports whether who has got to a position needs nothing before the oldest that a producer holds.
func reaches(at, oldest tuple.Position) bool {
	return at.Generation == oldest.Generation && at.Compare(oldest) >= 0
}

// lacks notes that the producer does not hold what comes behind at, and could go on at oldest.
func (p *producer) lacks(at, oldest tuple.Position, gap *tuple.Frame) {
	p.lost, p.lostAt, p.oldest, p.gap = true, at, oldest, gap
}

// found forgets that.
func (p *producer) found() { p.lost, p.gap = false, nil }

// changes notes that the stream of the producer is in another generation by now, which stands at a boundary. If it was in another one
// a moment ago as well, only that boundary counts: who tells of a new generation with each heartbeat would else never stall.
func (p *producer) changes(now Instant, boundary tuple.Time) {
	again := now < p.changedAt.Add(patience)
	p.changedAt = now
	if again {
		p.boundary = boundary
		p.found()
		return
	}
	p.begin(now)
}

// begin judges the producer anew: it has come up, or its stream has begun another generation, which may begin lower than the
// one before had come.
func (p *producer) begin(now Instant) {
	p.pace = pace{boundary: tuple.MinTime, movedAt: now}
	p.chased, p.silence, p.pretence.owed = tuple.MinTime, pretence{}, tuple.MinTime
	p.found()
	p.forgive()
}

// rank judges a producer; owing says that what looks like a stall is our own overload.
func (p *producer) rank(now Instant, s *Settings, owing bool) rank {
	if !p.up || p.diverged {
		return unreachable
	}
	if !p.heard {
		return unknown
	}
	if p.silent(now) {
		return stalled
	}
	switch p.status.State {
	case Failure:
		return unreachable
	case Stabilization:
		return correcting
	case UpstreamFailure:
		if p.restless(now) {
			return restless
		}
		return tentative
	case Starting:
		if p.outrun(now, s) {
			return stalled
		}
		return starting
	}
	if now < p.pretence.believeAt {
		return tentative
	}
	if !owing && (p.outrun(now, s) || p.status.Holding == 0 && p.overdue(now, s)) {
		return stalled
	}
	return stable
}
