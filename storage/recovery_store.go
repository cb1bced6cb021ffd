package storage

import (
	"errors"
	"fmt"
	"slices"
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
	number, err := r.prepare(p.Fragment)
	if err != nil {
		return fmt.Errorf("storage: save recovery point of %q: %w", p.Fragment, err)
	}
	base, staged := pointChunkKey(p.Fragment, number), len(data) > TxBytes/2
	if staged {
		if err := stageChunks(r.db, base, data); err != nil {
			return fmt.Errorf("storage: stage recovery point %d of %q: %w", number, p.Fragment, err)
		}
	}
	err = r.db.Update(func(w Writer) error {
		if err := r.claim(w, p.Fragment, number, &m); err != nil {
			return err
		}
		if !staged {
			if err := putChunks(w, base, data); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(w)
	})
	if err != nil {
		return fmt.Errorf("storage: save recovery point %d of %q: %w", number, p.Fragment, err)
	}
	return nil
}

// prepare returns the number of the next point, which passes over points that cannot be read, and removes the chunks
// that no manifest refers to: those of points that were replaced or that a crash left half staged.
func (r *RecoveryPoints) prepare(fragment string) (next uint64, err error) {
	var numbers []uint64
	err = r.db.View(func(v Reader) (err error) {
		numbers, err = pointNumbers(v, fragment)
		return err
	})
	if err != nil {
		return 0, err
	}
	next = 1
	if len(numbers) > 0 {
		next = numbers[0] + 1
	}
	prefix := pointChunksKey(fragment)
	return next, sweep(r.db, prefix, func(k Key) bool {
		n, _, ok := cutNumber(k, prefix)
		return !ok || !slices.Contains(numbers, n)
	})
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

// claim writes the manifest unless somebody else has, and removes those that are no longer kept.
func (r *RecoveryPoints) claim(w Writer, fragment string, number uint64, m *manifest) error {
	key := manifestKey(fragment, number)
	if _, err := w.Get(key); !errors.Is(err, ErrNotFound) {
		return errors.Join(err, ErrConflict)
	}
	numbers, err := pointNumbers(w, fragment)
	if err != nil {
		return err
	}
	for _, n := range numbers[min(keepPoints-1, len(numbers)):] {
		if err := w.Delete(manifestKey(fragment, n)); err != nil {
			return err
		}
	}
	return w.Set(key, m.encode())
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
	err := r.db.Update(func(w Writer) error { return deletePrefix(w, manifestsKey(fragment)) })
	if err == nil {
		err = sweep(r.db, pointChunksKey(fragment), func(Key) bool { return true })
	}
	if err != nil {
		return fmt.Errorf("storage: delete recovery points of %q: %w", fragment, err)
	}
	return nil
}
