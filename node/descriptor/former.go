package descriptor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fednode/storage"
)

// Former returns the organisations that an earlier descriptor of a query concerned and the one in force does not: they may
// not have heard of it yet.
func (d Documents) Former(query string) (orgs []string, err error) {
	key := storage.DocumentKey{Kind: kindFormer, Name: query}
	err = d.DB.View(func(r storage.Reader) error {
		doc, err := storage.LatestDocument(r, key)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err == nil {
			orgs = strings.Fields(string(doc.Body))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("former hosts of %s: %w", query, err)
	}
	return orgs, nil
}

// Supersede remembers whom a descriptor concerned that is replaced by another.
func (d Documents) Supersede(held, by *Descriptor) error {
	query := held.ID()
	orgs, err := d.Former(query)
	if err != nil {
		return err
	}
	for _, a := range held.Assignments {
		orgs = append(orgs, a.Org)
	}
	for _, s := range held.Streams {
		orgs = append(orgs, s.Org)
	}
	orgs = slices.DeleteFunc(orgs, by.Concerns)
	slices.Sort(orgs)
	orgs = slices.Compact(orgs)
	key := storage.DocumentKey{Kind: kindFormer, Name: query}
	return d.DB.Update(func(w storage.Writer) error {
		if len(orgs) == 0 {
			return storage.DeleteDocument(w, key)
		}
		return replaceDocument(w, key, []byte(strings.Join(orgs, " ")))
	})
}
