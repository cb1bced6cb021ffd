package source

import (
	"maps"
	"sync"

	"fednode/query/tuple"
)

// AckStore keeps who has acknowledged what of a stream, over restarts. Storing may lag: an old acknowledgement only
// keeps more of the log.
type AckStore interface {
	Load(stream string) (map[string]tuple.Position, error)
	Store(stream string, acks map[string]tuple.Position) error
}

// acks counts the subscribers of one source.
type acks struct {
	mu    sync.Mutex
	byWho map[string]tuple.Position
	dirty bool
}

// count makes a subscriber count whose durable state covers p. What is known of it already stands.
func (a *acks) count(who string, p tuple.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if have, ok := a.byWho[who]; ok && (have.Generation != p.Generation || have.ID >= p.ID) {
		return
	}
	a.byWho[who] = p
	a.dirty = true
}

// ack raises a counted subscriber's acknowledgement.
func (a *acks) ack(who string, p tuple.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.byWho[who]
	if !ok || have.Generation == p.Generation && have.ID >= p.ID && have.Time >= p.Time {
		return
	}
	a.byWho[who] = p
	a.dirty = true
}

func (a *acks) forget(who string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byWho, who)
	a.dirty = true
}

// take returns a copy of everything if something changed since the last call.
func (a *acks) take() (map[string]tuple.Position, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.dirty {
		return nil, false
	}
	a.dirty = false
	return maps.Clone(a.byWho), true
}

// lowest returns the smallest id that all counted subscribers of a generation have acknowledged; ok is false if nobody
// is counted.
func (a *acks) lowest(generation uint64) (id uint64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id = ^uint64(0)
	for _, p := range a.byWho {
		if p.Generation != generation {
			p.ID = 0
		}
		id, ok = min(id, p.ID), true
	}
	return id, ok
}

func (a *acks) all() map[string]tuple.Position {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.byWho)
}
