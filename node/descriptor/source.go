package descriptor

import (
	"errors"
	"fmt"

	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/storage"
)

// MaxSource is the longest query file that is kept, in bytes.
const MaxSource = 240 << 10

// Source is the query file that a descriptor was made from, with the connectors that only the owner runs. It is kept at
// the owner's node and is in no message.
type Source struct {
	File string // its name, for messages
	Text []byte
	// Diagram is the hash of its canonical form: the DiagramHash of the descriptors it belongs to.
	Diagram wire.Hash
}

// storedSource is a Source as it is kept.
type storedSource struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	File    string
	Text    []byte
	Diagram wire.Hash
}

const sourceVersion = 1

// SaveSource keeps the query file of a query, by its ID, before its descriptor is adopted. inForce is the DiagramHash of
// the descriptor that is in force until then, zero if there is none: its file is kept too, so that whichever of the two
// a crash leaves in force has its file.
func (d Documents) SaveSource(query string, s *Source, inForce wire.Hash) error {
	place := "query file of " + quote(query)
	if len(s.Text) > MaxSource || len(s.File) > 4096 {
		return &trust.Error{Kind: ErrTooLarge, Place: place, Got: fmt.Sprintf("%d bytes", len(s.Text)),
			Expected: fmt.Sprintf("at most %d", MaxSource), Remedy: "make two queries of it"}
	}
	body, err := encoding.Marshal(&storedSource{Version: sourceVersion, File: s.File, Text: s.Text, Diagram: s.Diagram})
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	key := storage.DocumentKey{Kind: kindSource, Name: query}
	return d.DB.Update(func(w storage.Writer) error {
		bodies := [][]byte{body}
		old, err := findSource(w, key, inForce)
		switch {
		case err == nil && s.Diagram != inForce:
			bodies = [][]byte{old.Body, body}
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return fmt.Errorf("%s: %w", place, err)
		}
		return replaceDocument(w, key, bodies...)
	})
}

// LoadSource returns the newest query file kept for a query whose diagram has the hash. The error wraps
// storage.ErrNotFound if there is none, as at nodes that do not own the query.
func (d Documents) LoadSource(query string, diagram wire.Hash) (*Source, error) {
	key := storage.DocumentKey{Kind: kindSource, Name: query}
	var found *Source
	err := d.DB.View(func(r storage.Reader) error {
		doc, err := findSource(r, key, diagram)
		if err != nil {
			return err
		}
		found, err = decodeSource(doc.Body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("query file of %s: %w", quote(query), err)
	}
	return found, nil
}

// findSource looks for a diagram's file from the newest version back.
func findSource(r storage.Reader, key storage.DocumentKey, diagram wire.Hash) (*storage.Document, error) {
	doc, err := storage.LatestDocument(r, key)
	for err == nil {
		s, bad := decodeSource(doc.Body)
		if bad != nil {
			return nil, bad
		}
		if s.Diagram == diagram {
			return doc, nil
		}
		doc, err = storage.GetDocument(r, key, doc.Version-1)
	}
	return nil, err
}

func decodeSource(body []byte) (*Source, error) {
	var s storedSource
	if err := decoding.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrDamaged, err)
	}
	if s.Version != sourceVersion {
		return nil, fmt.Errorf("version %d, expected %d: %w", s.Version, sourceVersion, ErrVersion)
	}
	return &Source{File: s.File, Text: s.Text, Diagram: s.Diagram}, nil
}
