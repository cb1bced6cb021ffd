package storage

import (
	"fmt"

	"fednode/query/tuple"
)

// ClientKey names one client or sink of one output of a query.
type ClientKey struct {
	Query  string
	Output string
	Client string
}

// ClientPosition is how far a client or sink has taken an output.
type ClientPosition struct {
	ClientKey
	Position tuple.Position
	// SinkState is the sink's own: an offset in its file, keys it wrote tentatively. At most ChunkBytes/2.
	SinkState []byte
}

const positionVersion = 1

// PutPosition stores a position.
func PutPosition(w Writer, p *ClientPosition) error {
	if len(p.SinkState) > ChunkBytes/2 {
		return fmt.Errorf("storage: sink state of %d bytes, at most %d are allowed: %w", len(p.SinkState), ChunkBytes/2, ErrTooLarge)
	}
	var e tuple.Encoder
	e.Uint(positionVersion)
	encodePosition(&e, p.Position)
	e.Bytes(p.SinkState)
	return w.Set(positionKey(p.ClientKey), seal(e.B))
}

// GetPosition reads a position; the error is ErrNotFound if there is none.
func GetPosition(r Reader, k ClientKey) (*ClientPosition, error) {
	v, err := r.Get(positionKey(k))
	if err != nil {
		return nil, err
	}
	return decodeClientPosition(k, v)
}

// EachPosition calls fn for every position of a query.
func EachPosition(r Reader, query string, fn func(*ClientPosition) error) error {
	prefix := positionsKey(query)
	return r.Each(prefix, func(key Key, v []byte) error {
		output, rest, ok := cutName(key, prefix)
		client, _, ok2 := cutName(rest, "")
		if !ok || !ok2 {
			return fmt.Errorf("storage: position of query %q with a malformed key: %w", query, ErrDamaged)
		}
		p, err := decodeClientPosition(ClientKey{Query: query, Output: output, Client: client}, v)
		if err != nil {
			return err
		}
		return fn(p)
	})
}

// DeletePosition removes a position; one that is not there is no error.
func DeletePosition(w Writer, k ClientKey) error { return w.Delete(positionKey(k)) }

// DeletePositions removes every position of a query.
func DeletePositions(w Writer, query string) error { return deletePrefix(w, positionsKey(query)) }

func decodeClientPosition(k ClientKey, v []byte) (*ClientPosition, error) {
	b, err := unseal(v)
	if err != nil {
		return nil, fmt.Errorf("storage: position of %+v: %w", k, err)
	}
	d := tuple.NewDecoder(b)
	if n := d.Uint(); n != positionVersion {
		d.Fail("format version %d", n)
	}
	p := &ClientPosition{ClientKey: k, Position: decodePosition(d)}
	p.SinkState = append([]byte(nil), d.Bytes()...)
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("storage: position of %+v: %w: %w", k, ErrDamaged, err)
	}
	return p, nil
}

func encodePosition(e *tuple.Encoder, p tuple.Position) {
	e.Uint(p.Generation)
	e.Time(p.Time)
	e.Uint(p.ID)
}

func decodePosition(d *tuple.Decoder) tuple.Position {
	return tuple.Position{Generation: d.Uint(), Time: d.Time(), ID: d.Uint()}
}
