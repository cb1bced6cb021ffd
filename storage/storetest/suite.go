package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
)

// Run checks a kind of store; open returns an empty one, closed by its own cleanup.
func Run(t *testing.T, open func(t *testing.T) storage.DB) {
	for _, c := range []struct {
		name  string
		check func(*testing.T, storage.DB)
	}{
		{"positions", positions},
		{"documents", documents},
		{"order of names", orderOfNames},
		{"atomic", atomic},
		{"views do not change", stableView},
		{"limits", limits},
		{"concurrent updates", concurrent},
		{"recovery points", points},
		{"large recovery points", largePoints},
		{"damaged recovery points", damagedPoints},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

func update(t *testing.T, db storage.DB, fn func(storage.Writer) error) {
	t.Helper()
	require.NoError(t, db.Update(fn))
}

func positions(t *testing.T, db storage.DB) {
	key := storage.ClientKey{Query: "watch", Output: "suspects", Client: "mail"}
	require.ErrorIs(t, db.View(func(r storage.Reader) error {
		_, err := storage.GetPosition(r, key)
		return err
	}), storage.ErrNotFound)

	p := &storage.ClientPosition{ClientKey: key, SinkState: []byte("offset 77")}
	p.Position.Generation, p.Position.Time, p.Position.ID = 3, -5, 1<<40
	other := &storage.ClientPosition{ClientKey: storage.ClientKey{Query: "watch", Output: "suspects\x00", Client: "é\x00\x01"}}
	update(t, db, func(w storage.Writer) error {
		return errors.Join(storage.PutPosition(w, p), storage.PutPosition(w, other))
	})
	require.NoError(t, db.View(func(r storage.Reader) error {
		got, err := storage.GetPosition(r, key)
		require.Equal(t, p, got)
		return err
	}))
	var seen []storage.ClientKey
	require.NoError(t, db.View(func(r storage.Reader) error {
		return storage.EachPosition(r, "watch", func(p *storage.ClientPosition) error {
			seen = append(seen, p.ClientKey)
			return nil
		})
	}))
	require.Equal(t, []storage.ClientKey{key, other.ClientKey}, seen)
	update(t, db, func(w storage.Writer) error { return storage.DeletePositions(w, "watch") })
	require.ErrorIs(t, db.View(func(r storage.Reader) error {
		_, err := storage.GetPosition(r, key)
		return err
	}), storage.ErrNotFound)
}

func documents(t *testing.T, db storage.DB) {
	put := func(name string, version uint64) error {
		return db.Update(func(w storage.Writer) error {
			return storage.PutDocument(w, &storage.Document{DocumentKey: storage.DocumentKey{Kind: "query", Name: name}, Version: version,
				Body: fmt.Appendf(nil, "%s v%d", name, version)})
		})
	}
	require.NoError(t, put("a", 1))
	require.NoError(t, put("ab", 1))
	require.NoError(t, put("a", 2))
	require.ErrorIs(t, put("a", 2), storage.ErrConflict)
	require.ErrorIs(t, put("a", 4), storage.ErrConflict)
	var latest []string
	require.NoError(t, db.View(func(r storage.Reader) error {
		old, err := storage.GetDocument(r, storage.DocumentKey{Kind: "query", Name: "a"}, 1)
		require.NoError(t, err)
		require.Equal(t, "a v1", string(old.Body))
		return storage.EachDocument(r, "query", func(d *storage.Document) error {
			latest = append(latest, string(d.Body))
			return nil
		})
	}))
	require.Equal(t, []string{"a v2", "ab v1"}, latest)
	update(t, db, func(w storage.Writer) error {
		return storage.DeleteDocument(w, storage.DocumentKey{Kind: "query", Name: "a"})
	})
	require.NoError(t, db.View(func(r storage.Reader) error {
		_, err := storage.LatestDocument(r, storage.DocumentKey{Kind: "query", Name: "a"})
		require.ErrorIs(t, err, storage.ErrNotFound)
		_, err = storage.LatestDocument(r, storage.DocumentKey{Kind: "query", Name: "ab"})
		return err
	}))
}

// orderOfNames: names of any bytes keep apart and sort by their bytes.
func orderOfNames(t *testing.T, db storage.DB) {
	names := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x01", "a", "a\x00", "a\x00b", "a\x01", "aa", "\xff"}
	update(t, db, func(w storage.Writer) error {
		for i := len(names) - 1; i >= 0; i-- {
			if err := storage.PutDocument(w, &storage.Document{DocumentKey: storage.DocumentKey{Kind: "k", Name: names[i]}, Version: 1, Body: []byte(names[i])}); err != nil {
				return err
			}
		}
		return nil
	})
	var got []string
	require.NoError(t, db.View(func(r storage.Reader) error {
		return storage.EachDocument(r, "k", func(d *storage.Document) error {
			require.Equal(t, d.Name, string(d.Body))
			got = append(got, d.Name)
			return nil
		})
	}))
	require.ElementsMatch(t, names, got)
}

func atomic(t *testing.T, db storage.DB) {
	mine := errors.New("mine")
	doc := func(name string) *storage.Document {
		return &storage.Document{DocumentKey: storage.DocumentKey{Kind: "k", Name: name}, Version: 1}
	}
	require.ErrorIs(t, db.Update(func(w storage.Writer) error {
		if err := storage.PutDocument(w, doc("a")); err != nil {
			return err
		}
		_, err := storage.LatestDocument(w, storage.DocumentKey{Kind: "k", Name: "a"})
		require.NoError(t, err, "a transaction reads its own writes")
		return mine
	}), mine)
	require.NoError(t, db.View(func(r storage.Reader) error {
		_, err := storage.LatestDocument(r, storage.DocumentKey{Kind: "k", Name: "a"})
		require.ErrorIs(t, err, storage.ErrNotFound)
		return nil
	}))
}

func stableView(t *testing.T, db storage.DB) {
	count := func(r storage.Reader) (n int) {
		require.NoError(t, storage.EachDocument(r, "k", func(*storage.Document) error { n++; return nil }))
		return n
	}
	require.NoError(t, db.View(func(r storage.Reader) error {
		require.Zero(t, count(r))
		update(t, db, func(w storage.Writer) error {
			return storage.PutDocument(w, &storage.Document{DocumentKey: storage.DocumentKey{Kind: "k", Name: "a"}, Version: 1})
		})
		require.Zero(t, count(r))
		return nil
	}))
}

// limits: what is too large is refused, and no refusal shows the value.
func limits(t *testing.T, db storage.DB) {
	secret := make([]byte, storage.ChunkBytes+1)
	for i := range secret {
		secret[i] = 'S'
	}
	err := db.Update(func(w storage.Writer) error { return w.Set("k", secret) })
	require.ErrorIs(t, err, storage.ErrTooLarge)
	require.NotContains(t, err.Error(), "SSSS")
	require.NotContains(t, err.Error(), "5353")
	err = db.Update(func(w storage.Writer) error {
		for i := range storage.TxBytes/storage.ChunkBytes + 1 {
			if err := w.Set(storage.Key(fmt.Sprint("k", i)), secret[1:]); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, err, storage.ErrTooLarge)
	require.ErrorIs(t, db.Update(func(w storage.Writer) error { return w.Set("", nil) }), storage.ErrTooLarge)
	require.ErrorIs(t, db.Update(func(w storage.Writer) error {
		return w.Set(storage.Key(secret[:storage.KeyBytes+1]), nil)
	}), storage.ErrTooLarge)
	require.NoError(t, db.View(func(r storage.Reader) error {
		return r.EachKey("", func(k storage.Key) error { return fmt.Errorf("%d bytes of key were stored", len(k)) })
	}))
}

// concurrent: of two that change one document each finds what the other wrote, or a conflict.
func concurrent(t *testing.T, db storage.DB) {
	const writers, rounds = 4, 25
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for range writers {
		wg.Go(func() {
			for done := 0; done < rounds; {
				err := db.Update(bump)
				if err == nil {
					done++
				} else if !errors.Is(err, storage.ErrConflict) {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, db.View(func(r storage.Reader) error {
		d, err := storage.LatestDocument(r, storage.DocumentKey{Kind: "k", Name: "counter"})
		require.EqualValues(t, writers*rounds, d.Version)
		return err
	}))
}

// bump stores the next version of one document.
func bump(w storage.Writer) error {
	next := uint64(1)
	d, err := storage.LatestDocument(w, storage.DocumentKey{Kind: "k", Name: "counter"})
	switch {
	case err == nil:
		next = d.Version + 1
	case !errors.Is(err, storage.ErrNotFound):
		return err
	}
	return storage.PutDocument(w, &storage.Document{DocumentKey: storage.DocumentKey{Kind: "k", Name: "counter"}, Version: next})
}
