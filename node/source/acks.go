package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fednode/node/flow"
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
	moved map[string]time.Time // when each last acknowledged something new, or was first seen in this life
	// lapsed are partners that are not counted any more, for people.
	lapsed flow.Lapses
	dirty  bool
}

// foreign returns the subscribers of other organisations that hold the log back, furthest behind first, with how long
// each has not acknowledged anything. own is the prefix of our own subscribers' names.
func (a *acks) foreign(own string, head tuple.Position, now time.Time) []laggard {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []laggard
	for who, p := range a.byWho {
		if strings.HasPrefix(who, own) || p.Generation == head.Generation && p.ID >= head.ID {
			continue
		}
		if a.moved[who].IsZero() {
			a.touch(who, now)
		}
		out = append(out, laggard{who: who, at: p, silent: now.Sub(a.moved[who])})
	}
	slices.SortFunc(out, func(x, y laggard) int {
		return cmp.Or(cmp.Compare(x.at.Generation, y.at.Generation), cmp.Compare(x.at.ID, y.at.ID), cmp.Compare(x.who, y.who))
	})
	return out
}

// laggard is a subscriber that holds the log back.
type laggard struct {
	who    string
	at     tuple.Position
	silent time.Duration
}

func (a *acks) touch(who string, now time.Time) {
	if a.moved == nil {
		a.moved = make(map[string]time.Time)
	}
	a.moved[who] = now
}

// count makes a subscriber of a stream count, unless its organisation has too many. What is known of it already stands.
func (a *acks) count(stream, own string, s flow.Subscriber) error {
	who, p := s.Name, s.Durable
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := flow.Admit(stream, who, own, a.byWho); err != nil {
		return err
	}
	a.lapsed.Back(who)
	if have, ok := a.byWho[who]; ok && (have.Generation != p.Generation || have.ID >= p.ID) {
		return nil
	}
	a.byWho[who] = p
	a.dirty = true
	return nil
}

// ack raises a counted subscriber's acknowledgement.
func (a *acks) ack(who string, p tuple.Position, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.byWho[who]
	if !ok || have.Generation == p.Generation && have.ID >= p.ID && have.Time >= p.Time {
		return
	}
	a.byWho[who] = p
	a.touch(who, now)
	a.dirty = true
}

// lapse stops counting a partner.
func (a *acks) lapse(l laggard, now time.Time) {
	a.mu.Lock()
	a.lapsed.Note(l.who, flow.Lapse{Acknowledged: l.at, Since: now})
	a.mu.Unlock()
	a.forget(l.who)
}

// lapses returns the partners that are not counted any more.
func (a *acks) lapses() map[string]flow.Lapse {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lapsed.All()
}

func (a *acks) forget(who string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byWho, who)
	delete(a.moved, who)
	a.dirty = true
}

// untaken lets the next take return everything again: what it returned could not be stored.
func (a *acks) untaken() {
	a.mu.Lock()
	defer a.mu.Unlock()
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
