package sim

import (
	"fednode/dcaa"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/testnet/sim/host"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// sourceLog is the durable log of one source: it outlives its node's lives.
type sourceLog struct {
	gen    *generator
	output *host.Buffer
	watch  *watch
	index  int
	// accepted are the rows of the log that the reference has not taken yet; boundary is the last one in it.
	accepted []*tuple.Frame
	boundary tuple.Time
	// last is the newest record in output.
	last *record
	// disconnected and behind count the faults that keep the connector from its data.
	disconnected, behind int
	// wall is how far the wall clock of the node has been set ahead: it dates arrivals, nothing else.
	wall int64
}

// record is one commit of a source proxy. It knows the one before, so that nothing that is durable can be passed over.
type record struct {
	before *record
	state  ingest.State
	totals ingest.Totals
	next   uint64 // row of the generator
	rows   *tuple.Frame
	bound  *tuple.Frame
	at     int64 // world time up to which rows have been read
}

// source is a source proxy in one of its lives.
type source struct {
	h       *host.Host
	spec    *topology.Spec
	log     *sourceLog
	stream  int32
	decider *ingest.Decider
	cfg     ingest.Config
	builder *tuple.BatchBuilder
	next    uint64
	newest  *record // committed or not
	unsure  *record // being committed, nil if none is
	retry   bool    // the disk refused unsure
	poll    dcaa.Instant
	polls   int
	// movedAt is when the row came, or the timer ran, that moved the boundary last.
	movedAt dcaa.Instant
	high    tuple.Time
}

// Slots of a source's disk.
const slotLog = 0

// pollsPerBoundary is how often a source looks for rows in each boundary interval.
const pollsPerBoundary = 2

// forgetPolls is after how many polls it looks for readers that are away.
const forgetPolls = 10

// mostRows bounds what is read at once, after a time in which nothing could be read: the rows of some seconds, or this if
// it is more.
const (
	mostRows    = 64
	mostSeconds = 3
)

func newSource(h *host.Host, spec *topology.Spec, log *sourceLog, stream int32, schema *tuple.Schema) *source {
	cfg := ingest.Live()
	cfg.MaxOutOfOrder, cfg.Late = spec.Slack, ingest.LateDrop
	cfg.BoundaryInterval = spec.BoundaryInterval
	cfg.IdleAfter, cfg.Start = 3*spec.BoundaryInterval, epoch
	return &source{h: h, spec: spec, log: log, stream: stream, cfg: cfg, builder: tuple.NewBatchBuilder(schema), high: tuple.MinTime}
}

// Boot goes on from the log.
func (s *source) Boot() {
	now := s.h.Now()
	s.poll, s.movedAt = now, now
	if r, ok := s.h.W.Load(slotLog).(*record); ok {
		s.decider = ingest.Restore(s.cfg, r.state, r.totals, tuple.Instant(now))
		s.next, s.newest = r.next, r
		s.publish(r)
	} else {
		s.decider = ingest.New(s.cfg, tuple.Instant(now))
	}
	s.h.Serve(s.stream, s.log.output)
}

// publish adds a durable record, and those before it that the log has not seen, to what is served.
func (s *source) publish(r *record) {
	if r == nil || r == s.log.last {
		return
	}
	s.publish(r.before)
	r.before = nil
	s.log.last = r
	if r.rows != nil {
		s.log.output.Append(r.rows, s.h.Now())
		s.log.accepted = append(s.log.accepted, r.rows)
		s.log.watch.accepted(s.log.index, r.rows)
	}
	if r.bound != nil {
		s.log.output.Append(r.bound, s.h.Now())
		s.log.boundary = r.bound.Time
	}
}

// condition is what the connector says of itself.
func (s *source) condition(now int64) ingest.Condition {
	switch {
	case s.log.disconnected > 0:
		return ingest.Disconnected
	case s.log.behind > 0 || s.log.gen.waiting(s.next, now):
		return ingest.Behind
	}
	return ingest.Waiting
}

// Due is when the source looks for rows.
func (s *source) Due() dcaa.Instant { return s.poll }

// Wake reads what there is, decides, and commits.
func (s *source) Wake() {
	now := s.h.Now()
	s.poll = now.Add(s.spec.BoundaryInterval / pollsPerBoundary)
	s.polls++
	if s.polls%forgetPolls == 0 {
		s.log.output.Forget(func(id world.NodeID) bool { return s.h.Away(id) > s.spec.ForgetAfter })
	}
	if s.unsure != nil {
		if s.retry {
			s.retry = false
			s.h.W.Commit(slotLog, s.unsure)
		}
		return
	}
	at := s.h.W.Now()
	r := &record{before: s.newest, at: at}
	before := s.decider.State().Boundary
	c, ok := ingest.Commit{}, false
	if s.log.disconnected == 0 && s.log.behind == 0 {
		if s.next, _ = s.log.gen.read(s.builder, s.next, at, max(mostRows, mostSeconds*int(s.spec.Rate))); s.builder.Rows() > 0 {
			c, ok = s.decider.Rows(s.builder.Take(), epoch.Add(at+s.log.wall), tuple.Instant(now)), true
			s.movedAt = now
		}
	}
	if !ok {
		c, ok = s.decider.Tick(tuple.Instant(now), s.condition(at))
		s.movedAt = now
	}
	if c.Batch != nil {
		s.h.SpendRows(c.Batch.Rows())
		r.rows = &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: c.FirstID, LastID: c.FirstID + uint64(c.Batch.Rows()) - 1, Batch: c.Batch}
	}
	if !ok || r.rows == nil && c.Boundary == before && s.boundaryTold() {
		return
	}
	if b := s.decider.State().Boundary; s.polls%pollsPerBoundary == 0 && b > s.told() {
		normal := s.spec.Slack + s.spec.Lag
		age := max(1, normal+int64(now-s.movedAt)) // 0 would say nothing
		r.bound = &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: b, Age: age, Normal: normal}
		s.high = b
	}
	if r.rows == nil && r.bound == nil {
		return
	}
	r.state, r.totals, r.next = s.decider.State(), s.decider.Totals(), s.next
	s.newest, s.unsure = r, r
	s.h.W.Commit(slotLog, r)
}

// told is the last boundary that has been committed or is about to be.
func (s *source) told() tuple.Time { return max(s.high, s.log.boundary) }

func (s *source) boundaryTold() bool { return s.decider.State().Boundary <= s.told() }

// Stored sends what has become durable.
func (s *source) Stored(_ uint32, ok bool) {
	if !ok {
		s.retry = true
		return
	}
	s.publish(s.unsure)
	s.unsure = nil
	s.h.Pump(s.stream)
}

// Beat says how the stream fares.
func (s *source) Beat(_ world.NodeID, beat []world.Status) []world.Status {
	st := dcaa.StreamStatus{State: dcaa.Stable, Boundary: s.log.boundary, Generation: 1, LastID: s.lastID()}
	switch {
	case s.log.disconnected > 0:
		st.State = dcaa.Failure
	case s.log.boundary == tuple.MinTime:
		st.State = dcaa.Starting
	}
	return append(beat, world.Status{Stream: s.stream, StreamStatus: st})
}

func (s *source) lastID() uint64 {
	if s.log.last == nil {
		return 0
	}
	return s.log.last.state.NextID - 1
}

// Acked lets the log forget.
func (s *source) Acked(peer world.NodeID, _ int32, at tuple.Position) { s.log.output.Ack(peer, at) }

// A source reads no stream of others, and does not care who hears it.

// Reachable is of no interest.
func (s *source) Reachable(world.NodeID, bool) {}

// Heard is of no interest.
func (s *source) Heard(world.NodeID, []world.Status) {}

// Opened is not expected.
func (s *source) Opened(int32, uint64) {}

// Refused is not expected.
func (s *source) Refused(int32, uint64) {}

// Truncated is not expected.
func (s *source) Truncated(int32, uint64, tuple.Position) {}

// Closed is not expected.
func (s *source) Closed(int32, uint64) {}

// Frame is not expected.
func (s *source) Frame(int32, uint64, *tuple.Frame) {}

// Peer is not expected.
func (s *source) Peer(world.NodeID, any) {}

// Owe is of no interest.
func (s *source) Owe(bool) {}

// Resumed is of no interest: the decider counts what passed.
func (s *source) Resumed(int64) {}
