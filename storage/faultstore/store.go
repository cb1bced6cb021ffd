package faultstore

import (
	"fednode/storage"
	"fednode/storage/disk"
)

// Store is a DB that fails by a plan. A failing update changes nothing.
type Store struct {
	inner storage.DB
	plan  *Plan
}

var _ storage.DB = (*Store)(nil)

// Wrap puts a plan before a store.
func Wrap(inner storage.DB, p *Plan) *Store { return &Store{inner: inner, plan: p} }

// View implements storage.DB; reads do not fail.
func (s *Store) View(fn func(storage.Reader) error) error { return s.inner.View(fn) }

// Update implements storage.DB. An update is one write of all its bytes.
func (s *Store) Update(fn func(storage.Writer) error) error {
	return s.inner.Update(func(w storage.Writer) error {
		c := &counter{Writer: w}
		if err := fn(c); err != nil {
			return err
		}
		_, err := s.plan.write(c.bytes)
		return disk.Wrap("commit to", "faultstore", err)
	})
}

// counter adds up what a transaction writes.
type counter struct {
	storage.Writer
	bytes int64
}

// Set implements storage.Writer.
func (c *counter) Set(key storage.Key, value []byte) error {
	c.bytes += int64(len(key) + len(value))
	return c.Writer.Set(key, value)
}
