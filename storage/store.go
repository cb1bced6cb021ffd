package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"fednode/storage/disk"
)

// Store is a DB in Badger, in a directory of its own.
type Store struct {
	dir  string
	lock *disk.Lock
	db   *badger.DB
	// guard remembers how far the engine's manifest goes.
	guard *manifestGuard
	// space measures the free space of dir.
	space func(dir string) (disk.Space, error)

	life   sync.RWMutex // held for reading by every call, for writing by Close
	closed bool

	watchMu sync.Mutex
	watch   disk.Watch
}

var _ DB = (*Store)(nil)

// engineDir holds the engine's files, apart from our lock.
const engineDir = "kv"

// Open opens or makes the store in a directory and locks it. Errors are of class ErrLocked, ErrReadOnly, ErrStorageFull
// or ErrDamaged, and say what to do.
func Open(dir string, o Options) (*Store, error) {
	lock, err := disk.LockDir(dir)
	if err != nil {
		return nil, err
	}
	s, err := openLocked(dir, o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	return s, nil
}

func openLocked(dir string, o Options) (*Store, error) {
	o, err := o.complete(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, engineDir)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, disk.Wrap("make directory", path, err)
	}
	s := &Store{dir: dir, space: o.Space, watch: disk.Watch{Reserve: o.Reserve}}
	if err := s.checkSpace(); err != nil {
		return nil, unopened(err) // opening writes too
	}
	if s.db, err = openEngine(path, o); err != nil {
		return nil, err
	}
	if s.guard, err = openGuard(path); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// unopened says of a full disk what helps whoever has nothing open: nothing goes on by itself.
func unopened(err error) error {
	if e := (*disk.Error)(nil); errors.As(err, &e) && errors.Is(err, ErrStorageFull) {
		e.Remedy = "free space on this file system or raise its quota, and start again: the store cannot be opened without writing"
	}
	return err
}

// openEngine turns a panic on damaged files into an error: the engine checks some of what it reads by assertion.
func openEngine(path string, o Options) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, damagedEngine(path, fmt.Errorf("%.200v", p))
		}
	}()
	engine := engineOptions(path, o)
	if err := checkManifest(path); err != nil {
		return nil, damagedEngine(path, err)
	}
	if err := checkTables(path, engine); err != nil {
		return nil, damagedEngine(path, err)
	}
	db, err = badger.Open(engine)
	if err == nil {
		return db, nil
	}
	placed := disk.Wrap("open", path, engineError(err))
	if e := (*disk.Error)(nil); errors.As(placed, &e) && e.Class == nil {
		return nil, damagedEngine(path, engineError(err))
	}
	return nil, placed
}

func damagedEngine(path string, err error) error {
	return &disk.Error{Class: ErrDamaged, Op: "open", Path: path, Err: err,
		Remedy: "nothing was changed; move this directory away and start again: positions are then taken from peers and logs"}
}

// engineOptions bounds memory and makes commits durable. Values stay in the tables, where compaction frees what is
// replaced: recovery points come every few seconds, and the value log would keep the old ones until a table happens to
// be compacted.
func engineOptions(path string, o Options) badger.Options {
	e := badger.DefaultOptions(path).
		WithSyncWrites(true).
		WithMemTableSize(o.MemTableBytes).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		WithNumCompactors(2).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(8 << 20).
		WithValueLogFileSize(16 << 20).
		WithValueThreshold(2 * ChunkBytes).
		WithNumVersionsToKeep(1).
		WithMetricsEnabled(false).
		WithChecksumVerificationMode(options.OnBlockRead).
		WithBypassLockGuard(true) // the directory above is locked
	e.Logger = nil
	if o.Logger != nil {
		e.Logger = quietLogger{o.Logger}
	}
	return e
}

// enter keeps Close away while a call runs.
func (s *Store) enter() error {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return ErrClosed
	}
	return nil
}

// View implements DB.
func (s *Store) View(fn func(Reader) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.life.RUnlock()
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	return fn(&engineTx{txn: txn})
}

// Update implements DB. With less free space than the reserve it is refused before fn runs.
func (s *Store) Update(fn func(Writer) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.life.RUnlock()
	if err := s.checkSpace(); err != nil {
		return err
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	if err := fn(&engineTx{txn: txn}); err != nil {
		return err
	}
	if err := txn.Commit(); err != nil {
		return disk.Wrap("commit to", s.dir, engineError(err))
	}
	_ = s.guard.note() // what is stored is stored; GC says what goes wrong with this
	return nil
}

func (s *Store) checkSpace() error {
	space, err := s.space(s.dir)
	if err != nil {
		return err
	}
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	return s.watch.Check(s.dir, space)
}

// GC frees what the engine's value log no longer needs, and says if the store cannot be guarded any more. The caller runs it every few minutes; it returns when there is
// nothing more to free or ctx ends.
func (s *Store) GC(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.enter(); err != nil {
			return err
		}
		err := s.db.RunValueLogGC(0.5)
		done := errors.Is(err, badger.ErrNoRewrite) || errors.Is(err, badger.ErrRejected)
		if done {
			err = s.guard.note()
		}
		s.life.RUnlock()
		if done {
			return err
		}
		if err != nil {
			return disk.Wrap("collect garbage in", s.dir, engineError(err))
		}
	}
	return nil
}

// Size returns the bytes of the tables and of the value log.
func (s *Store) Size() (tables, values int64) {
	if s.enter() != nil {
		return 0, 0
	}
	defer s.life.RUnlock()
	return s.db.Size()
}

// Close waits for running calls, and closes the store. It is idempotent.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(disk.Wrap("close", s.dir, engineError(s.db.Close())), s.guard.close(), s.lock.Close())
}
