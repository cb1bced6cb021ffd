package descriptor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/storage"
	"fednode/storage/memstore"
)

// Of the files of a query those of the descriptor in force and of the one being deployed are kept, no others.
func TestSources(t *testing.T) {
	docs := Documents{DB: memstore.New()}
	id := ID("north", "netmon")
	source := func(n byte, text string) *Source {
		return &Source{File: "netmon.toml", Text: []byte(text), Diagram: wire.Hash{n}}
	}
	_, err := docs.LoadSource(id, wire.Hash{1})
	require.ErrorIs(t, err, storage.ErrNotFound)

	require.NoError(t, docs.SaveSource(id, source(1, "one"), wire.Hash{}))
	require.NoError(t, docs.SaveSource(id, source(2, "two"), wire.Hash{1}))
	// Deploying broke off before its descriptor was in force; the next try replaces it.
	require.NoError(t, docs.SaveSource(id, source(3, "three"), wire.Hash{1}))
	for n, want := range map[byte]string{1: "one", 2: "", 3: "three"} {
		s, err := docs.LoadSource(id, wire.Hash{n})
		if want == "" {
			require.ErrorIs(t, err, storage.ErrNotFound)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, source(n, want), s)
	}
	require.NoError(t, docs.SaveSource(id, source(3, "another path"), wire.Hash{3}))
	s, err := docs.LoadSource(id, wire.Hash{3})
	require.NoError(t, err)
	require.Equal(t, "another path", string(s.Text))
	_, err = docs.LoadSource(id, wire.Hash{1})
	require.ErrorIs(t, err, storage.ErrNotFound)

	require.NoError(t, docs.Delete(id))
	_, err = docs.LoadSource(id, wire.Hash{3})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestSourceLimits(t *testing.T) {
	docs := Documents{DB: memstore.New()}
	s := &Source{Text: make([]byte, MaxSource)}
	require.NoError(t, docs.SaveSource("a/b", s, wire.Hash{}))
	require.NoError(t, docs.SaveSource("a/b", &Source{Text: make([]byte, MaxSource), Diagram: wire.Hash{1}}, wire.Hash{}), "two of the longest")
	s.Text = make([]byte, MaxSource+1)
	var e *trust.Error
	require.ErrorAs(t, docs.SaveSource("a/b", s, wire.Hash{}), &e)
	require.ErrorIs(t, e, ErrTooLarge)
}

// The longest descriptor fits into a document.
func TestLongestDescriptorIsKept(t *testing.T) {
	docs := Documents{DB: memstore.New()}
	long := make([]byte, MaxSigned)
	require.NoError(t, docs.Save("a/b", long))
	require.NoError(t, docs.Save("a/b", long))
	require.NoError(t, docs.Load(func(query string, signed []byte) error {
		require.Equal(t, "a/b", query)
		require.Len(t, signed, MaxSigned)
		return nil
	}))
}

func TestDamagedSource(t *testing.T) {
	db := memstore.New()
	key := storage.DocumentKey{Kind: kindSource, Name: "a/b"}
	require.NoError(t, db.Update(func(w storage.Writer) error { return replaceDocument(w, key, []byte{0xff}) }))
	_, err := Documents{DB: db}.LoadSource("a/b", wire.Hash{})
	require.ErrorIs(t, err, storage.ErrDamaged)
}
