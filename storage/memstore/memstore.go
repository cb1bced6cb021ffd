package memstore

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"fednode/storage"
)

// Store is a DB in memory.
type Store struct {
	update sync.Mutex // held by the one update that runs

	mu     sync.Mutex
	state  map[storage.Key][]byte // replaced, never changed
	closed bool
}

var _ storage.DB = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{state: map[storage.Key][]byte{}} }

func (s *Store) current() (map[storage.Key][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, storage.ErrClosed
	}
	return s.state, nil
}

// View implements storage.DB.
func (s *Store) View(fn func(storage.Reader) error) error {
	state, err := s.current()
	if err != nil {
		return err
	}
	return fn(&tx{state: state})
}

// Update implements storage.DB.
func (s *Store) Update(fn func(storage.Writer) error) error {
	s.update.Lock()
	defer s.update.Unlock()
	state, err := s.current()
	if err != nil {
		return err
	}
	t := &tx{state: state, writes: map[storage.Key][]byte{}}
	if err := fn(t); err != nil {
		return err
	}
	next := make(map[storage.Key][]byte, len(state)+len(t.writes))
	for k, v := range state {
		next[k] = v
	}
	for k, v := range t.writes {
		if v == nil {
			delete(next, k)
		} else {
			next[k] = v
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = next
	return nil
}

// Close ends the store; what was in it is gone.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.state = true, nil
	return nil
}

// tx is one transaction: a state and, on it, writes; a nil value is a deletion.
type tx struct {
	state  map[storage.Key][]byte
	writes map[storage.Key][]byte
	bytes  int
}

func (t *tx) lookup(key storage.Key) ([]byte, bool) {
	if v, ok := t.writes[key]; ok {
		return v, v != nil
	}
	v, ok := t.state[key]
	return v, ok
}

// Get implements storage.Reader.
func (t *tx) Get(key storage.Key) ([]byte, error) {
	if err := storage.CheckWrite(key, 0, 0); err != nil {
		return nil, err
	}
	v, ok := t.lookup(key)
	if !ok {
		return nil, storage.ErrNotFound
	}
	return bytes.Clone(v), nil
}

// Each implements storage.Reader.
func (t *tx) Each(prefix storage.Key, fn func(storage.Key, []byte) error) error {
	return t.EachKey(prefix, func(k storage.Key) error {
		v, ok := t.lookup(k)
		if !ok {
			return nil
		}
		return fn(k, bytes.Clone(v))
	})
}

// EachKey implements storage.Reader.
func (t *tx) EachKey(prefix storage.Key, fn func(storage.Key) error) error {
	var keys []storage.Key
	for k := range t.state {
		if strings.HasPrefix(string(k), string(prefix)) {
			keys = append(keys, k)
		}
	}
	for k := range t.writes {
		if _, both := t.state[k]; !both && strings.HasPrefix(string(k), string(prefix)) {
			keys = append(keys, k)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	for _, k := range keys {
		if _, ok := t.lookup(k); !ok {
			continue
		}
		if err := fn(k); err != nil {
			return err
		}
	}
	return nil
}

// Set implements storage.Writer.
func (t *tx) Set(key storage.Key, value []byte) error {
	t.bytes += storage.EntryBytes(key, value)
	if err := storage.CheckWrite(key, len(value), t.bytes); err != nil {
		return err
	}
	t.writes[key] = append([]byte{}, value...)
	return nil
}

// Delete implements storage.Writer.
func (t *tx) Delete(key storage.Key) error {
	t.bytes += storage.EntryBytes(key, nil)
	if err := storage.CheckWrite(key, 0, t.bytes); err != nil {
		return err
	}
	t.writes[key] = nil
	return nil
}
