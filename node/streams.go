package node

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/link"
	"fednode/node/wire"
	"fednode/query"
	"fednode/query/tuple"
)

// streams knows the streams that this node produces, who may have them, and where others are.
type streams struct {
	// Fixed after New.
	org     string
	exports []*export.Export
	link    *link.Link
	now     func() time.Time
	// shared returns the streams that concern a node by the queries that run.
	shared func(to host) []string
	// version counts changes of what is produced here and of the queries that run.
	version atomic.Uint64

	mu    sync.Mutex
	here  map[string]produced
	peers map[peer.ID]reachable
	lives lives
	away  absentees
	// remote is what the last heartbeat of each peer that is up says of its streams, sorted by name. Lists are shared and
	// not changed.
	remote map[peer.ID][]wire.StreamStatus
	// told is closed and replaced whenever remote or peers change.
	told chan struct{}
	// routes say where streams of other fragments come from, by name.
	routes map[string][]query.Place
}

// produced is a stream of this node.
type produced struct {
	stream flow.Stream
	// permit decides whether an organisation may have it; nil asks the exports.
	permit func(org string) error
}

// reachable is a peer that is up.
type reachable struct {
	org, node string
	life      uint64
}

func newStreams(org string, exports []*export.Export, now func() time.Time) *streams {
	return &streams{org: org, exports: exports, now: now, here: make(map[string]produced), peers: make(map[peer.ID]reachable), routes: make(map[string][]query.Place), remote: make(map[peer.ID][]wire.StreamStatus), told: make(chan struct{}), away: absentees{began: time.Now(), since: make(map[string]time.Time)}}
}

// heard notes what a peer's heartbeat says of its streams.
func (s *streams) heard(p peer.ID, list []wire.StreamStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, up := s.peers[p]; up {
		if !slices.IsSortedFunc(list, byName) {
			list = slices.Clone(list)
			slices.SortFunc(list, byName)
		}
		s.remote[p] = list
		s.tell()
	}
}

// remoteStreams returns what heartbeats last said of streams of others, by name.
func (s *streams) remoteStreams() []wire.StreamStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]wire.StreamStatus, 0, len(s.remote))
	for _, list := range s.remote {
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b wire.StreamStatus) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Generation, b.Generation))
	})
	return out
}

// put makes a stream available.
func (s *streams) put(st flow.Stream, permit func(org string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here[st.Name()] = produced{stream: st, permit: permit}
	s.version.Add(1)
}

// drop takes a stream away, if it is still the same.
func (s *streams) drop(st flow.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here[st.Name()].stream == st {
		delete(s.here, st.Name())
		s.version.Add(1)
	}
}

// route remembers where a stream comes from.
func (s *streams) route(stream string, at []query.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[stream] = at
}

func (s *streams) peerUp(p peer.ID, org, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = reachable{org, node, s.lives.begin(s.peers, p, org)}
}

func (s *streams) peerDown(p peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, up := s.peers[p]; up {
		s.away.since[r.org+"/"+r.node] = time.Now()
	}
	delete(s.peers, p)
	delete(s.remote, p)
	s.tell()
}

// Find returns a stream that is produced here, nil if it is not.
func (s *streams) Find(name string) flow.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.here[name].stream
}

// all returns the streams produced here, by name.
func (s *streams) all() []flow.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]flow.Stream, 0, len(s.here))
	for _, p := range s.here {
		out = append(out, p.stream)
	}
	slices.SortFunc(out, func(a, b flow.Stream) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// Permit says whether an organisation may have a stream, and through which export. Nothing leaves without one, but what a
// query's own fragments exchange, as far as the query's descriptor and the exports of its sources allow.
func (s *streams) Permit(stream, org string) (*export.Export, error) {
	if org == s.org {
		return nil, nil
	}
	s.mu.Lock()
	p, ok := s.here[stream]
	s.mu.Unlock()
	if ok && p.permit != nil {
		return nil, p.permit(org)
	}
	return s.exported(stream, org)
}

// exported returns the export through which a stream of this organisation leaves for another.
func (s *streams) exported(stream, org string) (*export.Export, error) {
	var denied error = &export.DeniedError{Stream: stream, Org: org, Why: "no [exports] entry lets it leave"}
	for _, x := range s.exports {
		if x.Stream != stream {
			continue
		}
		err := x.Allows(org, s.now())
		if err == nil {
			return x, nil
		}
		denied = err
	}
	return nil, denied
}

// openAt opens a stream at the first of some peers that gives it.
func (s *streams) openAt(ctx context.Context, candidates []peer.ID, org, stream string, sub flow.Subscriber) (flow.Cursor, error) {
	x, err := s.throughUs(stream, org)
	if err != nil {
		return nil, err
	}
	var last error
	for _, p := range candidates {
		c, err := s.link.Open(ctx, p, stream, sub)
		if err == nil {
			if x != nil {
				c = &viewed{Cursor: c, export: x, permitted: s.permitted(stream, org), head: func(ctx context.Context) (tuple.Time, error) { return s.remoteHead(ctx, p, stream) }}
			}
			return flow.Project(c, stream, sub.Schema), nil
		}
		if last = err; !worthAsking(err) {
			break
		}
	}
	return nil, last
}

func (s *streams) openHere(org string, st flow.Stream, sub flow.Subscriber) (flow.Cursor, error) {
	x, err := s.Permit(st.Name(), org)
	if err != nil {
		return nil, &flow.RefusedError{Stream: st.Name(), Reason: err.Error()}
	}
	c, err := st.Open(sub)
	if err != nil {
		return nil, err
	}
	if x != nil {
		v, err := x.View(st.Schema())
		if err != nil {
			c.Close()
			return nil, &flow.RefusedError{Stream: st.Name(), Reason: err.Error()}
		}
		v.Limit(x, st.Head().Time)
		c = &viewed{Cursor: c, export: x, view: v, permitted: s.permitted(st.Name(), org)}
	}
	return flow.Project(c, st.Name(), sub.Schema), nil
}

// worthAsking reports whether another peer may have the stream after one has answered so.
func worthAsking(err error) bool {
	_, elsewhere := err.(*link.NoStreamError)
	return elsewhere
}
