package p2p

import (
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/trust"
)

// PeerStatus is what status, peers and metrics show of a peer. It is a copy.
type PeerStatus struct {
	ID       peer.ID
	Member   trust.Member // zero while not admitted
	Up       bool
	Cause    string // why it is not up; "" if it is, or never was
	Version  uint8
	Software string
	Address  string        // of the connection, "" without one
	RTT      time.Duration // smoothed; 0 if not measured
	Silence  time.Duration // since the last byte
	Limit    time.Duration // of silence, as adapted
	Flaps    uint64        // suspicions that turned out wrong
	Streams  int           // data streams open, both ways
	Queued   int           // control messages waiting
	Dialled  []string      // where we dial it
}

// Peers returns all peers that we have, dial, or had a moment ago, by organisation, node and id.
func (h *Host) Peers() []PeerStatus {
	var list []PeerStatus
	for _, l := range h.all() {
		list = append(list, l.status(time.Now()))
	}
	slices.SortFunc(list, func(a, b PeerStatus) int {
		if c := strings.Compare(a.Member.String(), b.Member.String()); c != 0 {
			return c
		}
		return strings.Compare(a.ID.String(), b.ID.String())
	})
	return list
}

func (l *link) status(now time.Time) PeerStatus {
	member, admitted := l.host.door.Member(l.id)
	st := PeerStatus{ID: l.id, Member: member, Limit: l.limit(now)}
	l.mu.Lock()
	if !admitted {
		st.Member = l.member // who it was when it was last up
	}
	st.Flaps, st.Cause = l.patience.flaps, l.last
	s := l.session
	for _, a := range l.addrs {
		st.Dialled = append(st.Dialled, a.String())
	}
	l.mu.Unlock()
	if s != nil {
		s.status(&st, now)
	}
	return st
}

func (s *session) status(st *PeerStatus, now time.Time) {
	st.Version, st.Software, st.Silence = s.peer.Version, s.peer.Software, s.silence(now)
	st.Address, st.Queued = s.stream.Conn().RemoteMultiaddr().String(), len(s.queue)
	st.RTT = time.Duration(s.rtt.Load())
	s.mu.Lock()
	st.Up, st.Cause = s.doubt == nil, ""
	if s.doubt != nil {
		st.Cause = s.doubt.String()
	}
	st.Streams = len(s.streams)
	s.mu.Unlock()
}
