package p2p

import (
	"sync"
	"time"
)

// lines is how patient we are with the nodes of other organisations: they share the line to their organisation, and what the
// silence of one has shown of it holds for all. Otherwise each would have to be suspected once. Within our own organisation there is
// no such line.
type lines struct {
	own string

	mu sync.Mutex
	of map[string]*patience // by organisation; of those that there is patience with
}

// limit is how long a node of an organisation may be silent, as far as the others have shown.
func (l *lines) limit(org string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.of[org]; p != nil {
		return p.limit(now)
	}
	return 0
}

// passed takes in that a node of an organisation went on after a silence.
func (l *lines) passed(org string, silence time.Duration, now time.Time, cfg Config) {
	if org == l.own || org == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.of[org]
	if p == nil {
		l.forget(now)
		fresh := newPatience(cfg)
		p = &fresh
		l.of[org] = p
	}
	p.passed(silence, now)
}

// forget lets those go of which nothing is left that was learned. Called with mu held.
func (l *lines) forget(now time.Time) {
	if l.of == nil {
		l.of = make(map[string]*patience)
	}
	for org, p := range l.of {
		if p.limit(now) <= p.base {
			delete(l.of, org)
		}
	}
}
