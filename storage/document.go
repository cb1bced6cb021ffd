package storage

import (
	"errors"
	"fmt"
)

// DocumentKey names a document within its kind: "query", "watch".
type DocumentKey struct {
	Kind string
	Name string
}

// Document is a named piece of bytes with versions: a query's descriptor, a contract. Its body is opaque here.
type Document struct {
	DocumentKey
	Version uint64 // from 1, without holes
	Body    []byte // at most ChunkBytes less a checksum
}

// PutDocument stores the next version of a document; older ones stay. If Version does not follow the newest one that is
// stored the error is ErrConflict.
func PutDocument(w Writer, d *Document) error {
	newest := uint64(0)
	have, err := LatestDocument(w, d.DocumentKey)
	switch {
	case err == nil:
		newest = have.Version
	case !errors.Is(err, ErrNotFound):
		return err
	}
	if d.Version != newest+1 {
		return fmt.Errorf("storage: %s %q: version %d after %d: %w", d.Kind, d.Name, d.Version, newest, ErrConflict)
	}
	key := documentVersionKey(d.DocumentKey, d.Version)
	if _, err := w.Get(key); !errors.Is(err, ErrNotFound) { // so that two who write this version at once meet here
		return errors.Join(err, ErrConflict)
	}
	return w.Set(key, seal(d.Body))
}

// GetDocument reads one version.
func GetDocument(r Reader, k DocumentKey, version uint64) (*Document, error) {
	v, err := r.Get(documentVersionKey(k, version))
	if err != nil {
		return nil, err
	}
	return decodeDocument(k, version, v)
}

// LatestDocument reads the newest version; the error is ErrNotFound if there is none.
func LatestDocument(r Reader, k DocumentKey) (*Document, error) {
	var last *Document
	prefix := documentKey(k)
	err := r.Each(prefix, func(key Key, v []byte) error {
		version, _, ok := cutNumber(key, prefix)
		if !ok {
			return fmt.Errorf("storage: %s %q with a malformed key: %w", k.Kind, k.Name, ErrDamaged)
		}
		d, err := decodeDocument(k, version, v)
		last = d
		return err
	})
	if err == nil && last == nil {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return last, nil
}

// EachDocument calls fn for the newest version of every document of a kind, in order of names.
func EachDocument(r Reader, kind string, fn func(*Document) error) error {
	var last *Document
	prefix := documentsKey(kind)
	err := r.Each(prefix, func(key Key, v []byte) error {
		name, rest, ok := cutName(key, prefix)
		version, _, ok2 := cutNumber(rest, "")
		if !ok || !ok2 {
			return fmt.Errorf("storage: %s with a malformed key: %w", kind, ErrDamaged)
		}
		d, err := decodeDocument(DocumentKey{kind, name}, version, v)
		if err != nil {
			return err
		}
		if last != nil && last.Name != name {
			if err := fn(last); err != nil {
				return err
			}
		}
		last = d
		return nil
	})
	if err != nil || last == nil {
		return err
	}
	return fn(last)
}

// DeleteDocument removes every version of a document.
func DeleteDocument(w Writer, k DocumentKey) error {
	return deletePrefix(w, documentKey(k))
}

func decodeDocument(k DocumentKey, version uint64, v []byte) (*Document, error) {
	b, err := unseal(v)
	if err != nil {
		return nil, fmt.Errorf("storage: %s %q version %d: %w", k.Kind, k.Name, version, err)
	}
	return &Document{DocumentKey: k, Version: version, Body: append([]byte(nil), b...)}, nil
}
