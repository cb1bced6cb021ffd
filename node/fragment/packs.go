package fragment

import (
	"slices"
	"sync"
	"time"
)

// pack is a packed state that other replicas read, several of them one.
type pack struct {
	at    time.Time
	ready chan struct{} // closed when b or err is there
	b     []byte
	err   error
	gone  chan struct{} // closed when it has been taken away from who reads it

	readers int // guarded by packs.mu
}

// ended reports whether the pack has been taken away.
func (p *pack) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// A pack serves who comes within freshPack of its making, and while mostPacks are being read, who comes later too: states are
// large, and each costs the run loop a snapshot. One that is read for longer than oldestPack makes room for a new one.
const (
	mostPacks  = 2
	freshPack  = 10 * time.Second
	oldestPack = 10 * time.Minute
)

// packs are the packed states that are being read, oldest first. The zero value is ready; it is safe for concurrent use.
type packs struct {
	mu   sync.Mutex
	list []*pack
}

// take returns a pack to read; mine says that it is new, and the caller has to fill it. It is left by leave.
func (s *packs) take(now time.Time) (p *pack, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.list); n > 0 {
		newest := s.list[n-1]
		if now.Sub(newest.at) < freshPack || n == mostPacks && now.Sub(s.list[0].at) < oldestPack {
			newest.readers++
			return newest, false
		}
		if n == mostPacks {
			close(s.list[0].gone)
			s.list = slices.Delete(s.list, 0, 1)
		}
	}
	p = &pack{at: now, ready: make(chan struct{}), gone: make(chan struct{}), readers: 1}
	s.list = append(s.list, p)
	return p, true
}

// leave says that a reader needs a pack no more. The last one takes it along, and so does who finds that it failed.
func (s *packs) leave(p *pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.readers--
	failed := false
	select {
	case <-p.ready:
		failed = p.err != nil
	default:
	}
	if n := slices.Index(s.list, p); n >= 0 && (p.readers == 0 || failed) {
		s.list = slices.Delete(s.list, n, n+1)
	}
}
