package p2p

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"go.uber.org/zap"

	"fednode/node/wire"
)

// watch is what a session knows of hearing and of being heard.
type watch struct {
	beaten    bool          // a heartbeat came
	hearsUs   time.Time     // when the peer last said that it hears us, or the session began
	doubtedAt time.Time     // when the present doubt began
	doubted   time.Duration // how long the peer had been silent by then
	borne     time.Duration // the silence that is borne at present, beyond what is borne at first; 0 if there is none
	// stale are the connections there were when it began. One that is made later is a sign of life.
	stale []network.Conn
}

// takeBeat acts on a heartbeat of the peer.
func (s *session) takeBeat(m *wire.Heartbeat) error {
	s.judging.Lock()
	defer s.judging.Unlock()
	now := time.Now()
	s.watch.beaten = true
	s.gauge(m, now)
	if slices.Contains(m.HeardBy, s.link.host.name) {
		s.watch.hearsUs = now
	}
	s.settle(now)
	s.inbox.hear(m.Streams)
	return nil
}

// nextBeat appends a heartbeat to buf. It says whether the peer is heard, and of no other peer: whom else we talk to is
// nobody's business.
func (s *session) nextBeat(buf []byte) []byte {
	m := &wire.Heartbeat{Streams: s.link.host.handler.Beat(s.peer)}
	now := time.Now()
	if s.waiting.Load() || s.silence(now) <= s.link.limit(now) {
		m.HeardBy = []string{s.peer.ID.String()}
	}
	s.stamp(m, now)
	b, err := s.out.encode(m)
	if err != nil {
		s.link.log.Error("the node's part of a heartbeat cannot be sent") // once a heartbeat, but a defect of ours
		m.Streams = nil
		if b, err = s.out.encode(m); err != nil {
			return buf
		}
	}
	return append(buf, b...)
}

// keepWatch looks once a heartbeat whether the peer is heard and hears us, until the session ends.
func (s *session) keepWatch() {
	every := s.link.host.cfg.Heartbeat
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-s.over:
			return
		case <-tick.C:
		}
		now := time.Now()
		// If we ourselves were held up, what the peer sent may lie unread: give the reader one round.
		held := now.Sub(last) > every+every/2
		last = now
		if !held {
			s.look(now)
		}
	}
}

// look decides whether the peer is up, and gives it up after a long silence.
func (s *session) look(now time.Time) {
	if s.waiting.Load() {
		return // it is we who do not listen
	}
	s.judging.Lock()
	defer s.judging.Unlock()
	silence, limit := s.silence(now), s.link.limit(now)
	switch {
	case silence > s.link.host.cfg.Abandon:
		s.hadStale()
		s.end(Cause{Kind: CauseGivenUp})
	case silence > limit:
		s.suspect(Cause{Kind: CauseSilent}, now)
		if silence > max(2*limit, tcpTries) {
			signal(s.quiet)
		}
	case s.deaf(now, limit):
		s.suspect(Cause{Kind: CauseDeaf}, now)
	default:
		s.bear(silence, now)
		s.settle(now)
	}
}

// bear notes a silence that is borne for now, and learns from it once it has ended. Called with judging held.
func (s *session) bear(silence time.Duration, now time.Time) {
	if silence > s.link.host.cfg.silence() {
		s.watch.borne = silence
		return
	}
	if s.watch.borne > 0 {
		s.link.passed(s.watch.borne, now)
		s.watch.borne = 0
	}
}

// deaf says whether the peer is heard but has not heard us for the limit; its saying so takes a heartbeat each way and a
// round trip longer.
func (s *session) deaf(now time.Time, limit time.Duration) bool {
	late := limit + 2*s.link.host.cfg.Heartbeat + time.Duration(s.rtt.Load())
	return s.watch.beaten && now.Sub(s.watch.hearsUs) > late
}

// suspect says once that the peer is down. Called with judging held.
func (s *session) suspect(c Cause, now time.Time) {
	if s.doubted() != nil {
		return
	}
	s.watch.doubtedAt, s.watch.doubted, s.watch.borne = now, s.silence(now), 0
	s.hadStale()
	s.setDoubt(&c)
	s.inbox.doubt(c)
}

// settle says that a suspected peer is up after all. Called with judging held.
func (s *session) settle(now time.Time) {
	if s.doubted() == nil {
		return
	}
	if limit := s.link.limit(now); s.silence(now) > limit || s.deaf(now, limit) {
		return
	}
	s.setDoubt(nil)
	s.link.refuted(s.watch.doubted+now.Sub(s.watch.doubtedAt), now)
	s.inbox.trust()
}

// hadStale notes which connections are silent. Called with judging held.
func (s *session) hadStale() {
	if s.doubted() == nil {
		s.watch.stale = s.link.host.net.Network().ConnsToPeer(s.peer.ID)
	}
}

// hangUp closes the connections that a silent peer was heard over, and none that was made since.
func (s *session) hangUp() {
	s.judging.Lock()
	stale := s.watch.stale
	s.judging.Unlock()
	if !slices.Contains(stale, s.stream.Conn()) {
		stale = append(stale, s.stream.Conn())
	}
	for _, c := range stale {
		if err := c.Close(); err != nil {
			s.link.log.Debug("closing a silent connection", zap.Error(err))
		}
	}
}

func (s *session) doubted() *Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt
}

func (s *session) setDoubt(c *Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = c
}

func (l *link) limit(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.patience.limit(now), l.host.lines.limit(l.member.Org, now))
}

// passed takes in that the peer went on after a silence.
func (l *link) passed(silence time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patience.passed(silence, now)
	l.host.lines.passed(l.member.Org, silence, now, l.host.cfg)
}

// refuted takes in that a peer held for dead after a silence was there all the same.
func (l *link) refuted(silence time.Duration, now time.Time) {
	l.mu.Lock()
	l.patience.flaps++
	mistaken := l.patience.mistaken(silence)
	l.mu.Unlock()
	if mistaken {
		l.passed(silence, now)
	}
}
