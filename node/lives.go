package node

import (
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
)

// lives numbers the sessions with other nodes: who hears of a node only now and then sees by it that another session has
// begun. Silence within a session ends no life: what was read over it goes on. The zero value is ready.
type lives struct {
	last uint64
	of   map[peer.ID]uint64
	// orgs are the lives of whole organisations: one begins with the first session when no node of it is up.
	orgs map[string]uint64
}

// begin returns the life of a peer that comes up beside those that are.
func (l *lives) begin(up map[peer.ID]reachable, id peer.ID, org string) uint64 {
	if life, goesOn := l.of[id]; goesOn {
		return life
	}
	if l.of == nil {
		l.of, l.orgs = make(map[peer.ID]uint64), make(map[string]uint64)
	}
	l.last++
	l.of[id] = l.last
	for _, p := range up {
		if p.org == org {
			return l.last
		}
	}
	l.orgs[org] = l.last
	return l.last
}

// sessionEnded ends the life of a peer.
func (s *streams) sessionEnded(id peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lives.of, id)
}

// lifeOf returns the life of what a producer's name means: of any node of an organisation it is that of the organisation.
// It is 0 of what is not up, and of this node.
func (s *streams) lifeOf(producer string) (life uint64) {
	org, node, _ := strings.Cut(producer, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		switch {
		case p.org != org:
		case node == anyNode:
			return s.lives.orgs[org]
		case p.node == node:
			life = max(life, p.life)
		}
	}
	return life
}
