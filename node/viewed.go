package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/export"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// throughUs returns the export through which a stream of another node of ours leaves for a partner that we work for: that
// node sees only us ask. It is nil for streams that are not ours.
func (s *streams) throughUs(stream, org string) (*export.Export, error) {
	if org == s.org || !strings.HasPrefix(stream, s.org+"/") {
		return nil, nil
	}
	x, err := s.exported(stream, org)
	if err != nil {
		return nil, &flow.RefusedError{Stream: stream, Reason: err.Error()}
	}
	return x, nil
}

// permitted asks the exports again.
func (s *streams) permitted(stream, org string) func() error {
	return func() error {
		if _, err := s.exported(stream, org); err != nil {
			return &flow.RefusedError{Stream: stream, Reason: err.Error()}
		}
		return nil
	}
}

// viewed is a cursor through an export.
type viewed struct {
	flow.Cursor
	export *export.Export
	view   *export.View // nil until the first rows show the schema of a stream from elsewhere
	// head tells where a stream from elsewhere stands: the history that leaves counts from there. nil with a view.
	head func(context.Context) (tuple.Time, error)
	// permitted is asked for each frame: an export may end while the cursor is open.
	permitted func() error
}

// Next returns what leaves of the next frame of which something does.
func (v *viewed) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		f, err := v.Cursor.Next(ctx)
		if err != nil {
			return nil, err
		}
		if err := v.permitted(); err != nil {
			return nil, err
		}
		if f.Batch == nil {
			return v.export.Unnamed(f), nil
		}
		if v.view == nil {
			if v.view, err = v.begin(ctx, f.Batch.Schema); err != nil {
				return nil, err
			}
		}
		if f = v.view.Frame(f); f != nil {
			return f, nil
		}
	}
}

// begin makes the view once the schema is known, and waits until it is known where the stream stands if that matters.
func (v *viewed) begin(ctx context.Context, schema *tuple.Schema) (*export.View, error) {
	view, err := v.export.View(schema)
	if err != nil || v.export.History == 0 {
		return view, err
	}
	head, err := v.head(ctx)
	if err != nil {
		return nil, err
	}
	view.Limit(v.export, head)
	return view, nil
}

// remoteHead returns how far a peer's heartbeats say that a stream has come. They tell of a stream once it is subscribed to.
func (s *streams) remoteHead(ctx context.Context, p peer.ID, stream string) (tuple.Time, error) {
	for {
		s.mu.Lock()
		_, up := s.peers[p]
		list, told := s.remote[p], s.told
		s.mu.Unlock()
		for _, st := range list {
			if st.Name == stream {
				return st.Boundary, nil
			}
		}
		if !up {
			return 0, fmt.Errorf("stream %s: the node that produces it has gone", stream)
		}
		select {
		case <-told:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// tell wakes who waits for news of peers. mu is held.
func (s *streams) tell() {
	close(s.told)
	s.told = make(chan struct{})
}
