package client

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// Upstream says who gives a stream, and how they are reached.
type Upstream struct {
	Stream string
	// Producers are the replicas that give the stream, "org/node" or "org/*", the same list for everybody.
	Producers []string
	// Self is this node, "org/node": it is asked first if it is a producer.
	Self string
	// Settings of the query that makes the stream.
	Settings dcaa.Settings
	Network  flow.Network
	Clock    connect.Clock
	// Log is told why another producer is read from; nil is not told.
	Log *zap.Logger
}

// Request says what is wanted of a stream.
type Request struct {
	Upstream
	// Name of the subscriber, the same over restarts if it is counted.
	Name string
	// From is where the subscriber goes on; it is durable.
	From tuple.Position
	// Counted subscribers hold rows back at the producers until they acknowledge them; others take what there is.
	Counted bool
	// Latest wants tentative results too.
	Latest bool
	// Report hears of changes of the link, never of single tries, on the goroutine that calls Next; nil hears nothing.
	Report func(Link)
}

// Link is how a subscription is connected.
type Link struct {
	// Producer is the one that rows come from, "" if there is none.
	Producer string
	// Cause is why not; nil if nobody has been reached yet.
	Cause error
	// State is what the producer says of the stream; 0 while it has said nothing.
	State dcaa.State
	// Diverged are producers that are not read from because they gave other rows than another one.
	Diverged []string
}

// Subscription is a stream as its consumer gets it. It belongs to one goroutine, but for Ack.
type Subscription struct {
	req    Request
	began  time.Time // the instant 0
	intake *dcaa.Intake
	events events

	conns *connections
	news  *flow.NewsBox
	// unwatch ends the news.
	unwatch func()

	alarm <-chan time.Time
	armed dcaa.Instant
	left  dcaa.Instant // when Next last had the processor
	cause error
	said  Link
}

// Subscribe begins a subscription; Close ends it.
func Subscribe(req Request) *Subscription {
	s := &Subscription{req: req, began: req.Clock.Now(), news: flow.NewNewsBox(), armed: dcaa.Never, events: newEvents(req.From)}
	s.conns = newConnections(&s.req)
	s.intake = dcaa.NewIntake(dcaa.IntakeConfig{
		Settings: &s.req.Settings, Producers: req.Producers, Preferred: flow.Preferred(req.Producers, req.Self, req.Name), From: req.From, Tentative: req.Latest,
	}, 0, s.conns, &s.events)
	s.events.intake = s.intake
	s.unwatch = req.Network.Watch(req.Producers, s.news.Note)
	return s
}

// Next returns the next event, owned. It waits through failures of the producers; it fails only when ctx ends.
func (s *Subscription) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		if f := s.events.next(); f != nil {
			return f, nil
		}
		if err := s.step(ctx); err != nil {
			return nil, err
		}
	}
}

// Ack passes on what the consumer's durable state covers, to every producer. It may be called from any goroutine.
func (s *Subscription) Ack(p tuple.Position) {
	s.conns.acknowledge(p)
	s.req.Network.Ack(s.req.Stream, s.req.Name, s.req.Producers, p)
}

// Close ends the connections; what was counted stays counted.
func (s *Subscription) Close() {
	s.unwatch()
	s.conns.end()
}

func (s *Subscription) now() dcaa.Instant {
	return dcaa.Instant(s.req.Clock.Now().Sub(s.began).Microseconds())
}

// step waits for something to happen, and lets the intake decide what to make of it.
func (s *Subscription) step(ctx context.Context) error {
	s.resume()
	s.arm()
	select {
	case a := <-s.conns.arrivals:
		s.take(a)
	case <-s.news.Wake():
		s.hear()
	case <-s.alarm:
		s.rung()
	case <-ctx.Done():
		return ctx.Err()
	}
	s.left = s.now()
	s.skip()
	s.report()
	return nil
}

// skip goes on behind rows that no replica holds any more. One that is away may hold them: who counts waits for it, others
// take what there is.
func (s *Subscription) skip() {
	switch at := s.intake.AbandonAt(); {
	case at == dcaa.Never, s.req.Counted && s.left < at:
	default:
		s.intake.Skip(s.left, s.reason())
	}
}

// resume makes up for the time that the consumer took for what it was given last: what was sent meanwhile lies unread, so
// silence means nothing.
func (s *Subscription) resume() {
	now := s.now()
	if idle := int64(now - s.left); idle > s.patience() {
		s.intake.Resumed(now, idle)
	}
	s.left = now
}

// patience is how long standing still does not matter.
func (s *Subscription) patience() int64 {
	return s.req.Settings.Heartbeat * int64(s.req.Settings.Miss)
}

// arm sets the alarm to the next instant at which something is due, at most a heartbeat away: so standing still is noticed.
func (s *Subscription) arm() {
	due := min(s.intake.Due(s.left), s.left.Add(s.req.Settings.Heartbeat))
	if s.alarm != nil && s.armed <= due {
		return
	}
	s.armed = due
	s.alarm = s.req.Clock.After(time.Duration(max(0, due-s.left)) * time.Microsecond)
}

// rung looks whether the alarm came so late that the node must have stood still.
func (s *Subscription) rung() {
	now := s.now()
	late := int64(now - max(s.armed, s.left)) // what rang before it waited was not late
	s.alarm, s.armed = nil, dcaa.Never
	if late > s.patience() {
		s.intake.Resumed(now, late)
	}
	s.hear()
	s.intake.Tick(now)
}

// hear hands news of nodes to the intake.
func (s *Subscription) hear() {
	now := s.now()
	for _, n := range s.news.Take() {
		for k, name := range s.req.Producers {
			if name != n.Name {
				continue
			}
			if n.Anew {
				s.intake.Reachable(now, k, false)
			}
			s.intake.Reachable(now, k, n.Up)
			s.intake.Measured(k, n.Way)
			if st, ok := n.Of(s.req.Stream); ok {
				s.intake.Heard(now, k, st)
			}
		}
	}
	for _, name := range s.news.Accepted() {
		s.intake.Accept(now, name)
	}
}

// Accept lets the subscription read again from a producer that has diverged. It may be called from any goroutine.
func (s *Subscription) Accept(producer string) { s.news.Accept(producer) }

// reason says why rows are given up.
func (s *Subscription) reason() string {
	if s.cause != nil {
		return s.cause.Error()
	}
	return "no replica holds these rows any more"
}

// report tells of a change of the link.
func (s *Subscription) report() {
	l := Link{Cause: s.cause}
	if n := s.intake.Source(); n >= 0 {
		l = Link{Producer: s.req.Producers[n]}
		l.State, _ = s.intake.SourceState()
	}
	l.Diverged = s.intake.Diverged()
	if s.req.Report == nil || l.same(s.said) {
		return
	}
	s.said = l
	s.req.Report(l)
}

func (l Link) same(other Link) bool {
	if l.Producer != other.Producer || l.State != other.State || !slices.Equal(l.Diverged, other.Diverged) || (l.Cause == nil) != (other.Cause == nil) {
		return false
	}
	return l.Cause == nil || l.Cause.Error() == other.Cause.Error()
}
