package descriptor

import (
	"fmt"

	"fednode/storage"
)

// The kinds of documents kept in a store.
const (
	kindDescriptor = "descriptor"
	kindSource     = "query-source"
	kindFormer     = "query-former"
)

// Documents keeps descriptors and query files as documents of a store, by the ID of their query.
type Documents struct {
	DB storage.DB
}

var _ Store = Documents{}

// Save replaces the descriptor of a query. Only the newest is kept: a partner that sends one revision after the other
// takes no more room than one.
func (d Documents) Save(query string, signed []byte) error {
	key := storage.DocumentKey{Kind: kindDescriptor, Name: query}
	return d.DB.Update(func(w storage.Writer) error { return replaceDocument(w, key, signed) })
}

// replaceDocument makes bodies the only versions of a document.
func replaceDocument(w storage.Writer, key storage.DocumentKey, bodies ...[]byte) error {
	if err := storage.DeleteDocument(w, key); err != nil {
		return err
	}
	for i, body := range bodies {
		if err := storage.PutDocument(w, &storage.Document{DocumentKey: key, Version: uint64(i) + 1, Body: body}); err != nil {
			return err
		}
	}
	return nil
}

// Load calls fn for each descriptor, in order of ID.
func (d Documents) Load(fn func(query string, signed []byte) error) error {
	return d.DB.View(func(r storage.Reader) error {
		return storage.EachDocument(r, kindDescriptor, func(doc *storage.Document) error { return fn(doc.Name, doc.Body) })
	})
}

// Delete removes the descriptor of a query, and its query file if there is one.
func (d Documents) Delete(query string) error {
	return d.DB.Update(func(w storage.Writer) error {
		for _, kind := range []string{kindDescriptor, kindSource, kindFormer} {
			if err := storage.DeleteDocument(w, storage.DocumentKey{Kind: kind, Name: query}); err != nil {
				return fmt.Errorf("%s %q: %w", kind, query, err)
			}
		}
		return nil
	})
}
