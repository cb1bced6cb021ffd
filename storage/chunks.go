package storage

import (
	"errors"
	"fmt"
)

// putChunks stores a value in chunks below a base key; readers know its length.
func putChunks(w Writer, base Key, value []byte) error {
	for n, at := 0, 0; at < len(value); n, at = n+1, at+ChunkBytes {
		if err := w.Set(chunkKey(base, n), value[at:min(at+ChunkBytes, len(value))]); err != nil {
			return err
		}
	}
	return nil
}

// stageChunks stores a value that is too large for one transaction in several. It becomes visible to nobody before a
// later transaction refers to it.
func stageChunks(db DB, base Key, value []byte) error {
	const perTx = (TxBytes * 3 / 4) / ChunkBytes
	for n := 0; n*ChunkBytes < len(value); n += perTx {
		err := db.Update(func(w Writer) error {
			for i := n; i < n+perTx && i*ChunkBytes < len(value); i++ {
				if err := w.Set(chunkKey(base, i), value[i*ChunkBytes:min((i+1)*ChunkBytes, len(value))]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// getChunks reads a value of a known length. Missing or short chunks are of class ErrDamaged.
func getChunks(r Reader, base Key, size int) ([]byte, error) {
	var out []byte
	for n := 0; len(out) < size; n++ {
		c, err := r.Get(chunkKey(base, n))
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("chunk %d is missing: %w", n, ErrDamaged)
		}
		if err != nil {
			return nil, err
		}
		if want := min(ChunkBytes, size-len(out)); len(c) != want {
			return nil, fmt.Errorf("chunk %d has %d bytes, want %d: %w", n, len(c), want, ErrDamaged)
		}
		out = append(out, c...)
	}
	return out, nil
}

// sweep removes the keys below a prefix that gone names, however many, in transactions of a bounded size.
func sweep(db DB, prefix Key, gone func(Key) bool) error {
	const perTx = 1000
	for {
		var keys []Key
		err := db.View(func(r Reader) error {
			return r.EachKey(prefix, func(k Key) error {
				if len(keys) < perTx && gone(k) {
					keys = append(keys, k)
				}
				return nil
			})
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		err = db.Update(func(w Writer) error {
			for _, k := range keys {
				if err := w.Delete(k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// deletePrefix removes every key below a prefix.
func deletePrefix(w Writer, prefix Key) error {
	var keys []Key
	err := w.EachKey(prefix, func(k Key) error {
		keys = append(keys, k)
		return nil
	})
	for _, k := range keys {
		if err == nil {
			err = w.Delete(k)
		}
	}
	return err
}
