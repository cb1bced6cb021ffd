package descriptor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fednode/node/trust"
	"fednode/node/wire"
)

// Limits of a book. Queries that have stopped count too: their descriptors keep older ones from coming back.
const (
	// MaxQueries is how many queries a book holds: no more than one announcement can name.
	MaxQueries = 2048
	// MaxPartnerQueries is how many of them may be of one partner.
	MaxPartnerQueries = 256
)

// Store keeps the descriptors of a book. One goroutine at a time calls it; it copies what it is given.
type Store interface {
	// Save replaces the signed descriptor of a query, by its ID. It is durable when Save returns.
	Save(query string, signed []byte) error
	// Load calls fn for each of them, in any order, until fn returns an error, which Load then returns.
	Load(fn func(query string, signed []byte) error) error
	// Delete removes the descriptor of a query.
	Delete(query string) error
}

// Book holds the newest descriptor of each query. It may be used by any number of goroutines.
type Book struct {
	registry *trust.Registry
	store    Store

	writing sync.Mutex // held over a change, from comparing to storing; taken before mu

	mu      sync.RWMutex
	entries map[string]entry
}

// entry is a descriptor, and why it is not in force: its key was revoked, say. Then it still keeps older ones away.
type entry struct {
	*Verified
	lapse error
}

// NewBook returns an empty book. Load fills it.
func NewBook(registry *trust.Registry, store Store) *Book {
	return &Book{registry: registry, store: store, entries: map[string]entry{}}
}

// Adoption is what became of a descriptor.
type Adoption struct {
	Changed bool
	// Held is the newest descriptor, the one given or another; Previous what it replaced, nil if it replaced nothing.
	Held     *Verified
	Previous *Verified
	// Rival is a warning, nil if there is none. It is set also when the descriptor was refused.
	Rival *Rival
}

// Adopt verifies a signed descriptor and takes it in, durably, if it is the newest of its query. One that is held already
// is no error and changes nothing. The error is a *StaleError, a *ConflictError, what Verify returns, an ErrFull, or the
// store's; then nothing has changed.
func (b *Book) Adopt(signed []byte, now time.Time) (Adoption, error) {
	v, err := Verify(signed, b.registry, now)
	if err != nil {
		return Adoption{}, err
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	held, known := b.entry(v.ID())
	unchanged := Adoption{Held: held.Verified}
	if known && Compare(v.Revision(), held.Revision()) != 0 {
		unchanged.Rival = rivals(held.Revision(), v.Revision())
	}
	if err := b.admissible(v, held, known); err != nil {
		return unchanged, err
	}
	if known && held.Hash == v.Hash && held.lapse == nil {
		return unchanged, nil
	}
	a, err := b.replace(v, held)
	a.Rival = unchanged.Rival
	return a, err
}

// Admissible returns the error that Adopt would return for a verified descriptor now, without taking it in.
func (b *Book) Admissible(v *Verified) error {
	held, known := b.entry(v.ID())
	return b.admissible(v, held, known)
}

func (b *Book) admissible(v *Verified, held entry, known bool) error {
	if !known {
		return b.room(v)
	}
	switch c := Compare(v.Revision(), held.Revision()); {
	case c < 0:
		return &StaleError{Held: held.Revision(), Got: v.Revision()}
	case c == 0 && v.Hash != held.Hash:
		return &ConflictError{Held: held.Revision(), Got: v.Revision()}
	}
	return nil
}

func (b *Book) entry(query string) (entry, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	e, ok := b.entries[query]
	return e, ok
}

// replace stores first: what a node acts on and announces must survive its crash.
func (b *Book) replace(v *Verified, held entry) (Adoption, error) {
	if err := b.store.Save(v.ID(), v.Signed); err != nil {
		return Adoption{Held: held.Verified}, fmt.Errorf("descriptor: keep that of %s: %w", v.ID(), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries[v.ID()] = entry{Verified: v}
	return Adoption{Changed: true, Held: v, Previous: held.Verified}, nil
}

// room refuses one more query where there are too many.
func (b *Book) room(v *Verified) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	same := 0
	for _, e := range b.entries {
		if e.Org == v.Org {
			same++
		}
	}
	const remedy = "have stopped ones forgotten here"
	if len(b.entries) >= MaxQueries {
		return v.refuse(ErrFull, "", "one more query", fmt.Sprintf("at most %d", MaxQueries), remedy)
	}
	if v.Org != b.registry.Own() && same >= MaxPartnerQueries {
		return v.refuse(ErrFull, "", "one more query of "+v.Org, fmt.Sprintf("at most %d of a partner", MaxPartnerQueries), remedy)
	}
	return nil
}

// Get returns the descriptor in force of a query, by its ID.
func (b *Book) Get(query string) (*Verified, bool) {
	e, ok := b.entry(query)
	if !ok || e.lapse != nil {
		return nil, false
	}
	return e.Verified, true
}

// All returns the descriptors in force, in order of ID; those of stopped queries are among them.
func (b *Book) All() []*Verified {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []*Verified
	for _, e := range b.entries {
		if e.lapse == nil {
			out = append(out, e.Verified)
		}
	}
	slices.SortFunc(out, func(x, y *Verified) int { return cmp.Compare(x.ID(), y.ID()) })
	return out
}

// Forget removes the descriptor of a query that has stopped or lapsed, here and in the store. From then on an older one
// would be adopted again if somebody brought it; it is for queries that nobody has any more.
func (b *Book) Forget(query string) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	e, ok := b.entry(query)
	if !ok {
		return &trust.Error{Kind: trust.ErrMissing, Place: "descriptor of " + quote(query), Remedy: "name it organisation/query"}
	}
	if e.lapse == nil && e.State == Running {
		return e.refuse(trust.ErrExists, "", "a query that runs", "one that has stopped", "stop it first")
	}
	if err := b.store.Delete(query); err != nil {
		return fmt.Errorf("descriptor: forget that of %s: %w", query, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, query)
	return nil
}

// Revisions returns the revisions of the descriptors in force that share accepts, in order of ID; a nil share accepts
// all. With a partner only those are shared that concern it.
func (b *Book) Revisions(share func(*Descriptor) bool) []wire.Revision {
	var out []wire.Revision
	for _, v := range b.All() {
		if share == nil || share(v.Descriptor) {
			out = append(out, v.Revision())
		}
	}
	return out
}

// Wanted returns the queries of announced revisions that this book should pull, and warnings of rivals among them.
// Queries of organisations that are not trusted are not wanted: their descriptors would be refused.
func (b *Book) Wanted(announced []wire.Revision) (pull []string, warnings []*Rival) {
	for _, r := range announced {
		held, ok := b.entry(r.Query)
		if !ok {
			if org, _, _ := strings.Cut(r.Query, "/"); b.registry.Trusts(org) {
				pull = append(pull, r.Query)
			}
			continue
		}
		// Of one revision with two contents the other is pulled too: Adopt reports it.
		c := Compare(r, held.Revision())
		if c > 0 || c == 0 && (held.lapse != nil || r.Hash != held.Hash) {
			pull = append(pull, r.Query)
		}
		if rival := rivals(held.Revision(), r); rival != nil {
			warnings = append(warnings, rival)
		}
	}
	return pull, warnings
}

// Push returns the message that hands over the descriptor in force of a query.
func (b *Book) Push(query string) (*wire.Push, bool) {
	v, ok := b.Get(query)
	if !ok {
		return nil, false
	}
	return &wire.Push{Revision: v.Revision(), Descriptor: v.Signed}, true
}
