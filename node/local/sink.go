package local

import (
	"context"
	"fmt"

	"fednode/node/connect"
	"fednode/query"
	"fednode/query/tuple"
)

// sink is one output on its way out.
type sink struct {
	decl *query.Output
	ctx  context.Context // of the run, for Write: results are pushed, and know no context of their own
	to   connect.Sink
	rows uint64
	// target is what a person calls it: the file's name.
	target string
	done   bool
}

func (s *sink) write(b *tuple.Batch) error {
	n := uint64(b.Rows())
	if n == 0 {
		return nil
	}
	if err := s.to.Write(s.ctx, connect.SinkRows{Batch: b, Generation: 1, FirstID: s.rows + 1}); err != nil {
		return fmt.Errorf("output %s: %w", s.decl.Name, err)
	}
	s.rows += n
	return nil
}

func (s *sink) finish(ctx context.Context) error {
	if err := s.to.Finish(ctx); err != nil {
		return fmt.Errorf("output %s: %w", s.decl.Name, err)
	}
	s.done = true
	return nil
}
