package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/storage"
)

// Point returns a recovery point that uses every field; n sets it apart, and its snapshot has size bytes that do not
// compress.
func Point(fragment string, n uint64, size int) *storage.RecoveryPoint {
	state := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(state) // never fails
	p := &storage.RecoveryPoint{Fragment: fragment, Epoch: n, Boundary: tuple.Time(n) * 100_000,
		Operators: []storage.OperatorState{{Name: "active", Version: 2, Snapshot: state}, {Name: "joined", Version: 1, Snapshot: []byte{}}},
		Inputs:    []storage.InputPosition{{Stream: "north/conns"}, {Stream: "south/conns"}},
		Outputs: []storage.OutputState{{Stream: "watch/suspects", Generation: 2, NextID: n + 12, Boundary: -1,
			Unacked: []storage.Unacked{
				{FirstID: n, LastID: n + 9, Frame: []byte("frame")},
				{FirstID: n + 10, LastID: n + 10, Frame: []byte{}},
				{FirstID: n + 11, LastID: n + 11, Log: storage.LogRef{Log: "spill", Generation: 2, Key: 7}}}}},
	}
	p.Inputs[0].Position = tuple.Position{Generation: 1, Time: tuple.MinTime, ID: 5}
	p.Inputs[1].Position = tuple.Position{Generation: 9, Time: tuple.MaxTime, ID: 1 << 63}
	return p
}

func recoveryPoints(t *testing.T, db storage.DB) *storage.RecoveryPoints {
	t.Helper()
	points, err := storage.NewRecoveryPoints(db)
	require.NoError(t, err)
	return points
}

func requireNewest(t *testing.T, r *storage.RecoveryPoints, want *storage.RecoveryPoint) storage.LoadReport {
	t.Helper()
	got, report, err := r.Load(want.Fragment)
	require.NoError(t, err)
	require.Equal(t, want, got)
	return report
}

func points(t *testing.T, db storage.DB) {
	r := recoveryPoints(t, db)
	_, _, err := r.Load("q/1")
	require.ErrorIs(t, err, storage.ErrNotFound)
	for n := uint64(1); n <= 5; n++ {
		require.NoError(t, r.Save(Point("q/1", n, 1000), nil))
	}
	require.NoError(t, r.Save(Point("q/10", 77, 10), func(w storage.Writer) error {
		return storage.PutDocument(w, &storage.Document{DocumentKey: storage.DocumentKey{Kind: "with", Name: "it"}, Version: 1})
	}))
	report := requireNewest(t, r, Point("q/1", 5, 1000))
	require.EqualValues(t, 5, report.Number)
	require.Empty(t, report.Rejected)
	requireNewest(t, r, Point("q/10", 77, 10))
	require.NoError(t, db.View(func(v storage.Reader) error {
		_, err := storage.LatestDocument(v, storage.DocumentKey{Kind: "with", Name: "it"})
		return err
	}))

	mine := errors.New("mine")
	require.ErrorIs(t, r.Save(Point("q/1", 6, 10), func(storage.Writer) error { return mine }), mine)
	requireNewest(t, r, Point("q/1", 5, 1000))
	require.NoError(t, r.Delete("q/1"))
	_, _, err = r.Load("q/1")
	require.ErrorIs(t, err, storage.ErrNotFound)
	requireNewest(t, r, Point("q/10", 77, 10))
}

// largePoints: a point above what one transaction takes is staged, and old chunks do not pile up.
func largePoints(t *testing.T, db storage.DB) {
	r := recoveryPoints(t, db)
	const size = 2*storage.TxBytes + 12345
	for n := uint64(1); n <= 3; n++ {
		require.NoError(t, r.Save(Point("q", n, size), nil))
	}
	requireNewest(t, r, Point("q", 3, size))
	require.NoError(t, r.Save(Point("q", 4, 10), nil))
	require.NoError(t, r.Save(Point("q", 5, 10), nil))
	keys := 0
	require.NoError(t, db.View(func(v storage.Reader) error {
		return v.EachKey("", func(storage.Key) error { keys++; return nil })
	}))
	require.Equal(t, 4+2*storage.TxBytes/storage.ChunkBytes+1, keys,
		"two manifests with a chunk each; the chunks of the point before go with the next save")
	require.NoError(t, r.Delete("q"))
	require.NoError(t, db.View(func(v storage.Reader) error {
		return v.EachKey("", func(k storage.Key) error { return fmt.Errorf("%q is left", k) })
	}))
}

// damagedPoints: one byte of the newest point flipped, in any of its values: the one before is used and the report says
// so; with both damaged the error says that, and nothing is removed.
func damagedPoints(t *testing.T, db storage.DB) {
	r := recoveryPoints(t, db)
	require.NoError(t, r.Save(Point("q", 1, 5000), nil))
	before := snapshot(t, db)
	require.NoError(t, r.Save(Point("q", 2, 5000), nil))
	after := snapshot(t, db)
	for key, value := range after {
		if _, old := before[key]; old {
			continue
		}
		flip(t, db, key, value)
		report := requireNewest(t, r, Point("q", 1, 5000))
		require.EqualValues(t, 1, report.Number)
		require.Len(t, report.Rejected, 1)
		require.ErrorIs(t, report.Rejected[0].Err, storage.ErrDamaged)
		update(t, db, func(w storage.Writer) error { return w.Set(key, value) })
	}
	for key, value := range after {
		flip(t, db, key, value)
	}
	_, report, err := r.Load("q")
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.Len(t, report.Rejected, 2)
	require.Len(t, snapshot(t, db), len(after))
	require.NoError(t, r.Save(Point("q", 3, 10), nil), "damage does not stop the next point")
	requireNewest(t, r, Point("q", 3, 10))
}

func snapshot(t *testing.T, db storage.DB) map[storage.Key][]byte {
	t.Helper()
	out := map[storage.Key][]byte{}
	require.NoError(t, db.View(func(v storage.Reader) error {
		return v.Each("", func(k storage.Key, b []byte) error {
			out[k] = append([]byte(nil), b...)
			return nil
		})
	}))
	return out
}

func flip(t *testing.T, db storage.DB, key storage.Key, value []byte) {
	t.Helper()
	bad := append([]byte(nil), value...)
	bad[len(bad)/2] ^= 0x10
	update(t, db, func(w storage.Writer) error { return w.Set(key, bad) })
}
