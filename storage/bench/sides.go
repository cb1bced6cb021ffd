package bench

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"fednode/storage/seglog"
)

// openPlain appends the bytes alone, a write and a sync a group.
func openPlain(dir string) (side, error) {
	f, err := os.Create(filepath.Join(dir, "plain"))
	if err != nil {
		return side{}, err
	}
	var buf []byte
	return side{close: f.Close, append: func(_ context.Context, group [][]byte) error {
		buf = buf[:0]
		for _, b := range group {
			buf = append(buf, b...)
		}
		if _, err := f.Write(buf); err != nil {
			return err
		}
		return unix.Fdatasync(int(f.Fd()))
	}}, nil
}

func openSegments(dir string) (side, error) {
	l, _, err := seglog.Open(dir, seglog.Options{})
	if err != nil {
		return side{}, err
	}
	var entries []seglog.Entry
	key := uint64(0)
	return side{close: l.Close, append: func(ctx context.Context, group [][]byte) error {
		entries = entries[:0]
		for _, b := range group {
			key++
			entries = append(entries, seglog.Entry{Key: key, Payload: b})
		}
		_, err := l.AppendSync(ctx, entries...)
		return err
	}}, nil
}

// openBadger takes the same records as values under consecutive keys, a synced transaction a group, with the engine's
// own defaults.
func openBadger(dir string) (side, error) {
	db, err := badger.Open(badger.DefaultOptions(dir).WithSyncWrites(true).WithLogger(nil))
	if err != nil {
		return side{}, err
	}
	key := uint64(0)
	return side{close: db.Close, append: func(_ context.Context, group [][]byte) error {
		return db.Update(func(t *badger.Txn) error {
			for _, b := range group {
				key++
				if err := t.Set(binary.BigEndian.AppendUint64(nil, key), b); err != nil {
					return err
				}
			}
			return nil
		})
	}}, nil
}
