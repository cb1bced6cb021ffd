package descriptor

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/storage/memstore"
)

// revised returns the sample at another term and epoch, by the n-th peer.
func revised(t testing.TB, term, epoch uint64, writer byte) *Descriptor {
	d := sample(t)
	d.Term, d.Epoch, d.Writer = term, epoch, peerID(t, writer)
	return d
}

func sign(t testing.TB, d *Descriptor, p *party) []byte {
	t.Helper()
	b, err := Sign(d, p.deploy, day0)
	require.NoError(t, err)
	return b
}

// failing is a store that refuses to save while broken.
type failing struct {
	Store
	broken error
}

func (f *failing) Save(query string, signed []byte) error {
	if f.broken != nil {
		return f.broken
	}
	return f.Store.Save(query, signed)
}

func newBook(r *trust.Registry) *Book { return NewBook(r, Documents{DB: memstore.New()}) }

func TestAdopt(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	b := newBook(registry(t, south, north))
	_, ok := b.Get("north/netmon")
	require.False(t, ok)

	a, err := b.Adopt(sign(t, revised(t, 1, 3, 1), north), day0)
	require.NoError(t, err)
	require.True(t, a.Changed)
	require.Nil(t, a.Previous)
	firstHeld := a.Held

	a, err = b.Adopt(sign(t, revised(t, 1, 3, 1), north), day0)
	require.NoError(t, err, "the same again is no error")
	require.False(t, a.Changed)
	require.Same(t, firstHeld, a.Held)

	a, err = b.Adopt(sign(t, revised(t, 1, 4, 1), north), day0)
	require.NoError(t, err)
	require.True(t, a.Changed)
	require.Same(t, firstHeld, a.Previous)

	a, err = b.Adopt(firstHeld.Signed, day0)
	var stale *StaleError
	require.ErrorAs(t, err, &stale, "an older epoch played again")
	require.ErrorIs(t, err, ErrStale)
	require.ErrorContains(t, err, "got term 1 epoch 3 by "+peerID(t, 1)+", held term 1 epoch 4")
	require.Equal(t, uint64(4), stale.Held.Epoch)
	require.Equal(t, uint64(3), stale.Got.Epoch)
	require.False(t, a.Changed)
	require.Equal(t, uint64(4), a.Held.Epoch)

	a, err = b.Adopt(sign(t, revised(t, 2, 1, 1), north), day0)
	require.NoError(t, err, "a greater term counts before the epoch")
	require.True(t, a.Changed)

	got, ok := b.Get("north/netmon")
	require.True(t, ok)
	require.Equal(t, uint64(2), got.Term)
	require.Equal(t, []*Verified{got}, b.All())
	require.Equal(t, []wire.Revision{got.Revision()}, b.Revisions(nil))
	require.Empty(t, b.Revisions(func(d *Descriptor) bool { return d.Concerns("east") }))
}

// Queries of two organisations may have one name.
func TestQueriesOfOneName(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	b := newBook(registry(t, south, north))
	theirs := sample(t)
	ours := sample(t)
	ours.Org, ours.Home.Org = "south", "south"
	diagram := original(t, queryFile).Canonical("south")
	ours.Diagram, ours.DiagramHash = diagram, sha256.Sum256(diagram)
	ours.Streams = ours.Streams[:1]
	for _, signed := range [][]byte{sign(t, ours, south), sign(t, theirs, north)} {
		a, err := b.Adopt(signed, day0)
		require.NoError(t, err)
		require.True(t, a.Changed)
	}
	all := b.All()
	require.Len(t, all, 2)
	require.Equal(t, "north/netmon", all[0].ID())
	require.Equal(t, "south/netmon", all[1].ID())
}

// A bad descriptor leaves the book as it was.
func TestAdoptRefuses(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	b := newBook(registry(t, south, north))
	_, err := b.Adopt(forge(t, sample(t).sorted(), south.deploy), day0)
	requireRefusal(t, err, ErrOwner)
	require.Empty(t, b.All())
}

// Two writers of one term and epoch: the greater is used, whichever came first, and both ways a warning says so.
func TestRivals(t *testing.T) {
	north := newParty(t, "north")
	low, high := byte(1), byte(2)
	if peerID(t, low) > peerID(t, high) {
		low, high = high, low
	}
	for _, order := range [][]byte{{low, high}, {high, low}} {
		b := newBook(registry(t, north))
		a, err := b.Adopt(sign(t, revised(t, 1, 3, order[0]), north), day0)
		require.NoError(t, err)
		require.Nil(t, a.Rival)
		a, err = b.Adopt(sign(t, revised(t, 1, 3, order[1]), north), day0)
		require.Equal(t, order[1] == low, errors.Is(err, ErrStale))
		require.NotNil(t, a.Rival)
		require.Contains(t, a.Rival.String(), "that of "+peerID(t, high)+" is used")
		require.Equal(t, peerID(t, high), a.Held.Writer)

		_, warnings := b.Wanted([]wire.Revision{{Query: "north/netmon", Term: 1, Epoch: 3, Writer: peerID(t, low)}})
		require.Len(t, warnings, 1)
	}
}

// One writer that makes two descriptors of one revision is reported; the first stays until the next epoch.
func TestConflict(t *testing.T) {
	north := newParty(t, "north")
	b := newBook(registry(t, north))
	a, err := b.Adopt(sign(t, sample(t), north), day0)
	require.NoError(t, err)
	other := sample(t)
	other.State = Stopped
	got, err := b.Adopt(sign(t, other, north), day0)
	var conflict *ConflictError
	require.ErrorAs(t, err, &conflict)
	require.ErrorIs(t, err, ErrConflict)
	require.NotEqual(t, conflict.Held.Hash, conflict.Got.Hash)
	require.False(t, got.Changed)
	require.Same(t, a.Held, got.Held)
	require.Contains(t, err.Error(), "deploy the query again")
}

// What cannot be stored is not adopted: it would be forgotten by a crash after others have acted on it.
func TestAdoptNeedsTheStore(t *testing.T) {
	north := newParty(t, "north")
	store := &failing{Store: Documents{DB: memstore.New()}}
	b := NewBook(registry(t, north), store)
	_, err := b.Adopt(sign(t, revised(t, 1, 1, 1), north), day0)
	require.NoError(t, err)
	store.broken = errors.New("disk full")
	_, err = b.Adopt(sign(t, revised(t, 1, 2, 1), north), day0)
	require.ErrorIs(t, err, store.broken)
	v, _ := b.Get("north/netmon")
	require.Equal(t, uint64(1), v.Epoch)
	store.broken = nil
	a, err := b.Adopt(sign(t, revised(t, 1, 2, 1), north), day0)
	require.NoError(t, err)
	require.True(t, a.Changed)
}

func TestWantedAndPush(t *testing.T) {
	north := newParty(t, "north")
	b, other := newBook(registry(t, north)), newBook(registry(t, north))
	_, err := b.Adopt(sign(t, sample(t), north), day0)
	require.NoError(t, err)

	pull, warnings := other.Wanted(b.Revisions(nil))
	require.Equal(t, []string{"north/netmon"}, pull)
	require.Empty(t, warnings)
	push, ok := b.Push(pull[0])
	require.True(t, ok)
	a, err := other.Adopt(push.Descriptor, day0)
	require.NoError(t, err)
	require.Equal(t, push.Revision, a.Held.Revision())
	pull, _ = other.Wanted(b.Revisions(nil))
	require.Empty(t, pull)
	_, ok = b.Push("north/other")
	require.False(t, ok)

	pull, _ = b.Wanted([]wire.Revision{{Query: "east/q", Term: 1, Epoch: 1}, {Query: "", Term: 1, Epoch: 1}})
	require.Empty(t, pull, "of nobody we trust")

	r := b.Revisions(nil)[0]
	r.Hash[0]++
	pull, _ = b.Wanted([]wire.Revision{r})
	require.Len(t, pull, 1, "the other content of one revision is looked at")
	r.Epoch--
	pull, _ = b.Wanted([]wire.Revision{r})
	require.Empty(t, pull)
}

func TestLoad(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	db := memstore.New()
	docs := Documents{DB: db}
	b := NewBook(registry(t, south, north), docs)
	for epoch := uint64(1); epoch <= 3; epoch++ {
		_, err := b.Adopt(sign(t, revised(t, 1, epoch, 1), north), day0)
		require.NoError(t, err)
	}
	require.NoError(t, docs.Save("north/rubbish", []byte("rubbish")))
	require.NoError(t, docs.Save("north/moved", b.All()[0].Signed))

	again := NewBook(registry(t, south, north), docs)
	lapses, err := again.Load(day0)
	require.NoError(t, err)
	require.Len(t, lapses, 2)
	require.Equal(t, "north/moved", lapses[0].Query)
	requireRefusal(t, lapses[0].Err, trust.ErrIdentity)
	requireRefusal(t, lapses[1].Err, trust.ErrMalformed)
	require.Equal(t, b.All(), again.All())
	_, err = again.Adopt(sign(t, revised(t, 1, 2, 1), north), day0)
	require.ErrorIs(t, err, ErrStale, "what is refused before a restart is refused after it")
}

// When its organisation is no longer trusted a descriptor is not in force, keeps older ones away, and comes back.
func TestRecheck(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	r := registry(t, south, north)
	b := newBook(r)
	_, err := b.Adopt(sign(t, sample(t), north), day0)
	require.NoError(t, err)
	announced := b.Revisions(nil)
	require.Empty(t, b.Recheck(day0))
	require.NoError(t, r.Untrust("north"))

	lapses := b.Recheck(day0)
	require.Len(t, lapses, 1)
	requireRefusal(t, lapses[0].Err, trust.ErrUntrusted)
	require.ErrorIs(t, b.Lapsed("north/netmon"), trust.ErrUntrusted)
	_, ok := b.Get("north/netmon")
	require.False(t, ok)
	require.Empty(t, b.All())
	require.Empty(t, b.Revisions(nil))

	require.NoError(t, r.Trust(north.org))
	pull, _ := b.Wanted(announced)
	require.Len(t, pull, 1, "one signed by a key in force is looked for")
	_, err = b.Adopt(sign(t, revised(t, 1, 2, 1), north), day0)
	require.ErrorIs(t, err, ErrStale)
	require.Empty(t, b.Recheck(day0))
	require.NoError(t, b.Lapsed("north/netmon"))
	_, ok = b.Get("north/netmon")
	require.True(t, ok)
}

// After a key was revoked, the same descriptor signed with another key takes its place.
func TestSignedAgain(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	r := registry(t, south, north)
	b := newBook(r)
	_, err := b.Adopt(sign(t, sample(t), north), day0)
	require.NoError(t, err)
	rev, err := north.dir.RevokeKey(north.deploy.Secret.Public(), 0, "stolen", day0)
	require.NoError(t, err)
	_, err = r.Revoke(rev)
	require.NoError(t, err)
	require.Len(t, b.Recheck(day0), 1)
	next, err := north.dir.RotateKey(trust.RoleDeploy, day0, rand.NewChaCha8([32]byte{9}))
	require.NoError(t, err)
	signed, err := Sign(sample(t), next, day0)
	require.NoError(t, err)
	a, err := b.Adopt(signed, day0)
	require.NoError(t, err)
	require.True(t, a.Changed)
	require.Empty(t, b.Recheck(day0))
}

func TestForget(t *testing.T) {
	north := newParty(t, "north")
	docs := Documents{DB: memstore.New()}
	b := NewBook(registry(t, north), docs)
	requireRefusal(t, b.Forget("north/netmon"), trust.ErrMissing)
	_, err := b.Adopt(sign(t, sample(t), north), day0)
	require.NoError(t, err)
	requireRefusal(t, b.Forget("north/netmon"), trust.ErrExists)
	stopped := revised(t, 1, 4, 1)
	stopped.State = Stopped
	_, err = b.Adopt(sign(t, stopped, north), day0)
	require.NoError(t, err)
	require.NoError(t, b.Forget("north/netmon"))
	require.Empty(t, b.All())
	again := NewBook(registry(t, north), docs)
	_, err = again.Load(day0)
	require.NoError(t, err)
	require.Empty(t, again.All())
}

// A partner cannot fill the book.
func TestRoom(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	b := newBook(registry(t, south, north))
	v, err := read(sign(t, sample(t), north))
	require.NoError(t, err)
	for i := range MaxPartnerQueries {
		b.entries[fmt.Sprintf("north/q%d", i)] = entry{Verified: v}
	}
	_, err = b.Adopt(sign(t, sample(t), north), day0)
	requireRefusal(t, err, ErrFull)
	_, known := b.entry("north/netmon")
	require.False(t, known)
}

func TestBookIsSafeForConcurrentUse(t *testing.T) {
	north := newParty(t, "north")
	b := newBook(registry(t, north))
	var wg sync.WaitGroup
	for epoch := uint64(1); epoch <= 8; epoch++ {
		signed := sign(t, revised(t, 1, epoch, 1), north)
		wg.Go(func() {
			if _, err := b.Adopt(signed, day0); err != nil && !errors.Is(err, ErrStale) {
				t.Error(err)
			}
			b.Wanted(b.Revisions(nil))
			b.Recheck(day0.Add(time.Minute))
		})
	}
	wg.Wait()
	v, ok := b.Get("north/netmon")
	require.True(t, ok)
	require.Equal(t, uint64(8), v.Epoch)
}
