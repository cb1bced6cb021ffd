package descriptor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"fednode/node/trust"
)

// Lapse is a descriptor that is held but not in force, and why: the key that signed it was revoked, its organisation is
// no longer trusted, or this build cannot use it. Nothing runs because of it.
type Lapse struct {
	Query string // its ID
	Err   error
}

// Load fills the book from its store and verifies everything anew. A descriptor that no longer verifies is held but not
// in force, and is among the lapses; so is one that cannot be read at all, which is not held. The error is the store's.
func (b *Book) Load(now time.Time) ([]Lapse, error) {
	b.writing.Lock()
	defer b.writing.Unlock()
	entries := map[string]entry{}
	var unread []Lapse
	err := b.store.Load(func(query string, signed []byte) error {
		v, err := read(signed)
		if err == nil && v.ID() != query {
			err = v.refuse(trust.ErrIdentity, "", "kept as "+quote(query), v.ID(), "")
		}
		if err != nil {
			unread = append(unread, Lapse{Query: query, Err: err})
			return nil
		}
		e := entry{Verified: v}
		if v.Signer, e.lapse = v.authenticate(b.registry, now); e.lapse == nil {
			e.lapse = v.check()
		}
		entries[query] = e
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("descriptor: load: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = entries
	return sortLapses(append(unread, lapses(entries)...)), nil
}

// Recheck verifies the signatures of all descriptors by what the registry believes now; it is called when that has
// changed. It returns every descriptor that is not in force. One whose organisation is trusted again is in force again.
func (b *Book) Recheck(now time.Time) []Lapse {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.RLock()
	entries := maps.Clone(b.entries)
	b.mu.RUnlock()
	for query, e := range entries {
		_, err := e.authenticate(b.registry, now)
		if err == nil && e.lapse != nil {
			err = e.check() // it may have lapsed for what it says, when it was loaded
		}
		e.lapse = err
		entries[query] = e
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = entries
	return sortLapses(lapses(entries))
}

func lapses(entries map[string]entry) []Lapse {
	var out []Lapse
	for query, e := range entries {
		if e.lapse != nil {
			out = append(out, Lapse{Query: query, Err: e.lapse})
		}
	}
	return out
}

func sortLapses(list []Lapse) []Lapse {
	slices.SortFunc(list, func(x, y Lapse) int { return cmp.Compare(x.Query, y.Query) })
	return list
}

// Lapsed says why a query that is known has no descriptor in force; nil if it has one or is not known.
func (b *Book) Lapsed(query string) error {
	e, _ := b.entry(query)
	return e.lapse
}
