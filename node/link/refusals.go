package link

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// refusals remembers what was refused to whom, so that only what goes on is told: a query's hosts learn of it one after the
// other, and refuse at first what they will grant in a moment. The zero value is ready; it may be used by any number of
// goroutines.
type refusals struct {
	mu   sync.Mutex
	seen map[refusalKey]refusal
}

type refusalKey struct {
	peer   peer.ID
	stream string
}

type refusal struct {
	first time.Time
	told  bool
}

const (
	// refusedFor is how long a peer has to ask in vain until it is told of.
	refusedFor = 3 * time.Second
	// maxRefusals bounds what a peer that asks for one name after the other makes us remember.
	maxRefusals = 1024
)

// lasts notes a refusal, and reports whether it has lasted for long: once for each.
func (r *refusals) lasts(k refusalKey, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, known := r.seen[k]
	if !known {
		if r.seen == nil || len(r.seen) >= maxRefusals {
			r.seen = make(map[refusalKey]refusal)
		}
		r.seen[k] = refusal{first: now}
		return false
	}
	if was.told || now.Sub(was.first) < refusedFor {
		return false
	}
	was.told = true
	r.seen[k] = was
	return true
}

// forget ends a refusal: what was asked for has been granted.
func (r *refusals) forget(k refusalKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, k)
}
