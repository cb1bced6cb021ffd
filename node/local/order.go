package local

import (
	"fmt"

	"fednode/query"
	"fednode/query/tuple"
)

// measureRows is after how many rows the state of the operators is measured again.
const measureRows = 1024

// route says where the rows of the stream go.
func (s *stream) route(to []target) {
	for _, t := range to {
		if t.engine != nil {
			s.engines = append(s.engines, t)
		} else {
			s.sinks = append(s.sinks, t)
		}
	}
}

// unbounded reports whether rows may stand in any order: then nothing is promised before the end.
func (s *stream) unbounded() bool { return s.decl.Rules.MaxOutOfOrder == query.Unbounded }

// needsOrder reports whether something takes the rows only in their order.
func (s *stream) needsOrder() bool {
	for _, t := range s.engines {
		if t.engine.unions[t.union].ordered != nil {
			return true
		}
	}
	return false
}

// sortFromNow lets the stream's rows pass a sorter, on disk if they are many, before the fragments get them.
func (r *runner) sortFromNow(s *stream) {
	s.sorter = newSorter(s.decl.Schema, r.opt.MemoryBytes, r.opt.TempDir)
}

// give hands on rows that were accepted.
func (r *runner) give(s *stream, rows *tuple.Batch) error {
	for _, t := range s.sinks {
		if err := t.give(rows, true); err != nil {
			return err
		}
	}
	if s.sorter != nil {
		if err := s.sorter.add(rows); err != nil {
			return fmt.Errorf("stream %s: %w", s.decl.Name, err)
		}
		return nil
	}
	for _, t := range s.engines {
		if err := t.give(rows, len(s.engines) == 1); err != nil {
			return err
		}
	}
	r.measure(s, rows.Rows())
	return nil
}

// measure watches the state that grows as no window can close. Operators that need no order take rows at once, which is
// cheapest, and ends well if the groups of all windows fit into memory. Once they do not, later rows are sorted instead:
// then windows close as the sorted rows pass, and what an operator holds is bounded by what is open at one time.
func (r *runner) measure(s *stream, rows int) {
	if s.unseen += rows; !s.unbounded() || s.unseen < measureRows {
		return
	}
	s.unseen = 0
	held := int64(0)
	for _, e := range r.engines {
		held += e.inst.StateBytes()
	}
	if held > r.opt.MemoryBytes && len(s.engines) > 0 {
		r.sortFromNow(s)
	}
}

// takeSorted hands on the next rows that the sorter has put in order: what follows is not before the last of them.
func (r *runner) takeSorted(s *stream) error {
	b, err, ok := s.sorted()
	switch {
	case err != nil:
		return err
	case !ok:
		s.finish()
	default:
		s.boundary = b.Time[b.Row(b.Rows()-1)]
		for _, t := range s.engines {
			if err := t.give(b, false); err != nil {
				return err
			}
		}
	}
	for _, t := range s.engines {
		t.engine.bound(t, s.boundary)
	}
	return r.advance()
}
