package storage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// entryOverhead is what a transaction holds for an entry besides its bytes; it also bounds the number of entries.
const entryOverhead = 96

// EntryBytes is what one write counts towards TxBytes.
func EntryBytes(key Key, value []byte) int { return len(key) + len(value) + entryOverhead }

// engineTx is a transaction of a Store.
type engineTx struct {
	txn   *badger.Txn
	bytes int
}

var _ Writer = (*engineTx)(nil)

// Get implements Reader.
func (t *engineTx) Get(key Key) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	item, err := t.txn.Get([]byte(key))
	if err != nil {
		return nil, engineError(err)
	}
	v, err := item.ValueCopy(nil)
	return v, engineError(err)
}

// Each implements Reader.
func (t *engineTx) Each(prefix Key, fn func(key Key, value []byte) error) error {
	o := badger.DefaultIteratorOptions
	o.Prefix = []byte(prefix)
	o.PrefetchSize = 8 // values may be of 256 KiB
	it := t.txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		key := Key(item.Key())
		if err := item.Value(func(v []byte) error { return fn(key, v) }); err != nil {
			return engineError(err)
		}
	}
	return nil
}

// EachKey implements Reader.
func (t *engineTx) EachKey(prefix Key, fn func(key Key) error) error {
	it := t.txn.NewIterator(badger.IteratorOptions{Prefix: []byte(prefix)})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := fn(Key(it.Item().Key())); err != nil {
			return err
		}
	}
	return nil
}

// Set implements Writer.
func (t *engineTx) Set(key Key, value []byte) error {
	t.bytes += EntryBytes(key, value)
	if err := CheckWrite(key, len(value), t.bytes); err != nil {
		return err
	}
	return engineError(t.txn.Set([]byte(key), append([]byte(nil), value...)))
}

// Delete implements Writer.
func (t *engineTx) Delete(key Key) error {
	t.bytes += EntryBytes(key, nil)
	if err := CheckWrite(key, 0, t.bytes); err != nil {
		return err
	}
	return engineError(t.txn.Delete([]byte(key)))
}

// engineError gives the engine's errors our class. Its texts can hold dumps of values: they are cut.
func engineError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return ErrNotFound
	case errors.Is(err, badger.ErrConflict):
		return ErrConflict
	case errors.Is(err, badger.ErrTxnTooBig):
		return ErrTooLarge
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return ErrClosed
	case strings.Contains(err.Error(), "checksum mismatch"):
		return fmt.Errorf("%w: %s", ErrDamaged, cutText(err.Error()))
	}
	if len(err.Error()) <= maxText {
		return err
	}
	return &cutError{err}
}

const maxText = 200

// cutError keeps an error for errors.Is but shows only the beginning of its text.
type cutError struct{ err error }

func (e *cutError) Error() string { return cutText(e.err.Error()) }
func (e *cutError) Unwrap() error { return e.err }

func cutText(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	return s
}

// quietLogger cuts lines for the same reason, and moves the engine's information, which is of use to its authors, to
// the debug level.
type quietLogger struct{ to Logger }

// Errorf implements badger.Logger.
func (q quietLogger) Errorf(format string, args ...any) {
	q.to.Errorf("%s", cutText(fmt.Sprintf(format, args...)))
}

// Warningf implements badger.Logger.
func (q quietLogger) Warningf(format string, args ...any) {
	q.to.Warningf("%s", cutText(fmt.Sprintf(format, args...)))
}

// Infof implements badger.Logger.
func (q quietLogger) Infof(format string, args ...any) {
	q.to.Debugf("%s", cutText(fmt.Sprintf(format, args...)))
}

// Debugf implements badger.Logger.
func (q quietLogger) Debugf(format string, args ...any) {
	q.to.Debugf("%s", cutText(fmt.Sprintf(format, args...)))
}
