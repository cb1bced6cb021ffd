package node

import (
	"errors"
	"fmt"

	"fednode/query/tuple"
	"fednode/storage"
)

// ackStore keeps sources' acknowledgements in the store, one document's worth a stream.
type ackStore struct{ db storage.DB }

// ackQuery and ackClient name acknowledgements among the store's client positions: an acknowledgement is how far a
// subscriber has taken a stream.
const ackQuery = "acknowledgements"

// Load returns who has acknowledged what of a stream.
func (a ackStore) Load(stream string) (map[string]tuple.Position, error) {
	out := make(map[string]tuple.Position)
	err := a.db.View(func(r storage.Reader) error {
		return storage.EachPosition(r, ackQuery, func(p *storage.ClientPosition) error {
			if p.Output == stream {
				out[p.Client] = p.Position
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("acknowledgements of %s: %w", stream, err)
	}
	return out, nil
}

// Store replaces what is kept of a stream: who is no longer counted must not hold its log back after a restart. One
// caller at a time stores for a stream.
func (a ackStore) Store(stream string, acks map[string]tuple.Position) error {
	kept, err := a.Load(stream) // apart from the update, which so conflicts with no other stream's
	if err != nil {
		return err
	}
	err = a.db.Update(func(w storage.Writer) error {
		for client := range kept {
			if _, counted := acks[client]; counted {
				continue
			}
			if err := storage.DeletePosition(w, ackKey(stream, client)); err != nil {
				return err
			}
		}
		for client, at := range acks {
			if err := storage.PutPosition(w, &storage.ClientPosition{ClientKey: ackKey(stream, client), Position: at}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("acknowledgements of %s: %w", stream, err)
	}
	return nil
}

func ackKey(stream, client string) storage.ClientKey {
	return storage.ClientKey{Query: ackQuery, Output: stream, Client: client}
}

// sinkStore keeps how far sinks have come.
type sinkStore struct {
	db    storage.DB
	query string
}

// LoadPosition returns what SavePosition stored.
func (s sinkStore) LoadPosition(stream, client string) (at tuple.Position, state []byte, ok bool, err error) {
	err = s.db.View(func(r storage.Reader) error {
		p, err := storage.GetPosition(r, storage.ClientKey{Query: s.query, Output: stream, Client: client})
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err == nil {
			at, state, ok = p.Position, p.SinkState, true
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("position of %s in %s: %w", client, stream, err)
	}
	return at, state, ok, err
}

// SavePosition stores how far a sink has come.
func (s sinkStore) SavePosition(stream, client string, at tuple.Position, state []byte) error {
	p := storage.ClientPosition{ClientKey: storage.ClientKey{Query: s.query, Output: stream, Client: client}, Position: at, SinkState: state}
	err := s.db.Update(func(w storage.Writer) error { return storage.PutPosition(w, &p) })
	if err != nil {
		return fmt.Errorf("position of %s in %s: %w", client, stream, err)
	}
	return nil
}

// forgetPositions removes how far the sinks of a query have come.
func (n *Node) forgetPositions(query string) error {
	return n.store.Update(func(w storage.Writer) error { return storage.DeletePositions(w, query) })
}
