package node

import (
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
)

// lives numbers the times at which nodes came up: who hears of a node only now and then sees by it that the node was down
// in between. The zero value is ready.
type lives struct {
	last uint64
	// orgs are the lives of whole organisations: one begins with the first of its nodes that comes up.
	orgs map[string]uint64
}

// begin numbers the life of a peer that comes up beside those that are.
func (l *lives) begin(up map[peer.ID]reachable, org string) uint64 {
	l.last++
	for _, p := range up {
		if p.org == org {
			return l.last
		}
	}
	if l.orgs == nil {
		l.orgs = make(map[string]uint64)
	}
	l.orgs[org] = l.last
	return l.last
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
