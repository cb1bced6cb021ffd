package storage

import (
	"errors"
	"fmt"
)

// keepPoints is how many points of a fragment are kept: the newest, and the one before it should the newest prove
// unreadable.
const keepPoints = 2

// RecoveryPoints stores the recovery points of fragments. It may be used concurrently, for one fragment by one caller at
// a time.
type RecoveryPoints struct {
	db    DB
	codec *pointCodec
}

// NewRecoveryPoints returns the recovery points in a store.
func NewRecoveryPoints(db DB) (*RecoveryPoints, error) {
	codec, err := newPointCodec()
	if err != nil {
		return nil, fmt.Errorf("storage: recovery points: %w", err)
	}
	return &RecoveryPoints{db: db, codec: codec}, nil
}

// Save stores a point and removes all but the newest two. The point becomes visible whole, in one transaction, together
// with what `also` writes (nil for nothing); one that is too large for a transaction is staged before in pieces that
// nobody sees. On an error the points are as before.
func (r *RecoveryPoints) Save(p *RecoveryPoint, also func(Writer) error) error {
	m, data, err := r.codec.encode(p)
	if err != nil {
		return err
	}
	number, err := r.nextNumber(p.Fragment)
	if err != nil {
		return fmt.Errorf("storage: save recovery point of %q: %w", p.Fragment, err)
	}
	small := len(data) <= TxBytes/2
	if !small {
		if err := r.stage(p.Fragment, number, data); err != nil {
			return fmt.Errorf("storage: stage recovery point %d of %q: %w", number, p.Fragment, err)
		}
	}
	err = r.db.Update(func(w Writer) error {
		if err := r.claim(w, p.Fragment, number, &m); err != nil {
			return err
		}
		if small {
			if err := putChunks(w, pointChunkKey(p.Fragment, number), data); err != nil {
				return err
			}
		}
		if err := r.prune(w, p.Fragment, number); err != nil || also == nil {
			return err
		}
		return also(w)
	})
	if err != nil {
		return fmt.Errorf("storage: save recovery point %d of %q: %w", number, p.Fragment, err)
	}
	return nil
}

// nextNumber also passes over points that cannot be read.
func (r *RecoveryPoints) nextNumber(fragment string) (uint64, error) {
	next := uint64(1)
	err := r.db.View(func(v Reader) error {
		numbers, err := pointNumbers(v, fragment)
		if len(numbers) > 0 {
			next = numbers[0] + 1
		}
		return err
	})
	return next, err
}

// pointNumbers returns the numbers of the fragment's manifests, newest first.
func pointNumbers(v Reader, fragment string) ([]uint64, error) {
	var out []uint64
	prefix := manifestsKey(fragment)
	err := v.EachKey(prefix, func(key Key) error {
		if n, _, ok := cutNumber(key, prefix); ok {
			out = append([]uint64{n}, out...)
		}
		return nil
	})
	return out, err
}

// stage writes the chunks, after removing what an earlier attempt may have left under this number.
func (r *RecoveryPoints) stage(fragment string, number uint64, data []byte) error {
	base := pointChunkKey(fragment, number)
	if err := r.db.Update(func(w Writer) error { return deletePrefix(w, base) }); err != nil {
		return err
	}
	return stageChunks(r.db, base, data)
}

// claim writes the manifest unless somebody else has.
func (r *RecoveryPoints) claim(w Writer, fragment string, number uint64, m *manifest) error {
	key := manifestKey(fragment, number)
	if _, err := w.Get(key); !errors.Is(err, ErrNotFound) {
		if err == nil {
			err = ErrConflict
		}
		return err
	}
	return w.Set(key, m.encode())
}

// prune removes every point but `number` and the one before, and chunks without a manifest.
func (r *RecoveryPoints) prune(w Writer, fragment string, number uint64) error {
	numbers, err := pointNumbers(w, fragment)
	if err != nil {
		return err
	}
	keep := map[uint64]bool{number: true}
	for _, n := range numbers {
		if len(keep) < keepPoints {
			keep[n] = true
		}
		if !keep[n] {
			if err := w.Delete(manifestKey(fragment, n)); err != nil {
				return err
			}
		}
	}
	var gone []Key
	prefix := pointChunksKey(fragment)
	err = w.EachKey(prefix, func(key Key) error {
		if n, _, ok := cutNumber(key, prefix); !ok || !keep[n] {
			gone = append(gone, key)
		}
		return nil
	})
	for _, k := range gone {
		if err == nil {
			err = w.Delete(k)
		}
	}
	return err
}

// Load returns the newest usable point of a fragment. Newer ones that are damaged are named in the report. The error is
// ErrNotFound if there is no point, and of class ErrDamaged if there are some but none is usable: the report says why,
// and nothing has been removed. Other errors are the store's, and the call may be repeated.
func (r *RecoveryPoints) Load(fragment string) (*RecoveryPoint, LoadReport, error) {
	var point *RecoveryPoint
	var report LoadReport
	err := r.db.View(func(v Reader) error {
		numbers, err := pointNumbers(v, fragment)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			p, err := r.read(v, fragment, n)
			if err == nil {
				point, report.Number = p, n
				return nil
			}
			if !errors.Is(err, ErrDamaged) {
				return err
			}
			report.Rejected = append(report.Rejected, Rejected{Number: n, Err: err})
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, report, fmt.Errorf("storage: load recovery point of %q: %w", fragment, err)
	case point == nil && len(report.Rejected) > 0:
		return nil, report, fmt.Errorf("storage: load recovery point of %q: all %d are unusable, the newest: %w",
			fragment, len(report.Rejected), report.Rejected[0].Err)
	case point == nil:
		return nil, report, fmt.Errorf("storage: recovery point of %q: %w", fragment, ErrNotFound)
	}
	return point, report, nil
}

func (r *RecoveryPoints) read(v Reader, fragment string, number uint64) (*RecoveryPoint, error) {
	b, err := v.Get(manifestKey(fragment, number))
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(b)
	if err != nil {
		return nil, err
	}
	data, err := getChunks(v, pointChunkKey(fragment, number), m.Stored)
	if err != nil {
		return nil, err
	}
	return r.codec.decode(fragment, m, data)
}

// Delete removes every point of a fragment: its query was deleted.
func (r *RecoveryPoints) Delete(fragment string) error {
	err := r.db.Update(func(w Writer) error { return deletePrefix(w, pointsKey(fragment)) })
	if err != nil {
		return fmt.Errorf("storage: delete recovery points of %q: %w", fragment, err)
	}
	return nil
}
