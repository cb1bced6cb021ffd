package op

import (
	"slices"

	"fednode/query/tuple"
)

// splitter cuts a batch into parts of one slice each. Rows of a slice keep their order. It is scratch.
type splitter struct {
	slice []int64  // of each selected row
	sel   []uint32 // column rows by slice
	part  tuple.Batch
}

// maxRuns is how many stretches of one slice a batch may have and still be cut where they end: more means that the rows
// are not in order of time, and are sorted by slice.
const maxRuns = 16

// each calls visit for every part.
func (s *splitter) each(b *tuple.Batch, g grid, visit func(*tuple.Batch) error) error {
	runs := s.locate(b, g)
	if runs > maxRuns {
		return s.bySlice(b, visit)
	}
	for lo := 0; lo < len(s.slice); {
		hi := lo + 1
		for hi < len(s.slice) && s.slice[hi] == s.slice[lo] {
			hi++
		}
		if err := visit(b.Slice(lo, hi)); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// locate finds the slice of each row and returns how many stretches there are.
func (s *splitter) locate(b *tuple.Batch, g grid) int {
	s.slice = s.slice[:0]
	runs, k := 0, int64(0)
	start, end := tuple.MaxTime, tuple.MinTime
	for i := range b.Rows() {
		if t := b.Time[b.Row(i)]; t < start || t >= end {
			k = g.index(t)
			start, end = g.at(k), g.at(k+1)
			runs++
		}
		s.slice = append(s.slice, k)
	}
	return runs
}

// bySlice sorts the rows by slice: by counting where the slices lie close together.
func (s *splitter) bySlice(b *tuple.Batch, visit func(*tuple.Batch) error) error {
	lo, hi := slices.Min(s.slice), slices.Max(s.slice)
	if width := uint64(hi) - uint64(lo); width < uint64(4*len(s.slice)) {
		return s.byCounting(b, lo, int(width)+1, visit)
	}
	order := make([]int, len(s.slice))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case s.slice[i] < s.slice[j]:
			return -1
		case s.slice[i] > s.slice[j]:
			return 1
		}
		return 0
	})
	s.sel = s.sel[:0]
	for i, at := range order {
		if i > 0 && s.slice[at] != s.slice[order[i-1]] {
			if err := s.visit(b, s.sel, visit); err != nil {
				return err
			}
			s.sel = s.sel[:0]
		}
		s.sel = append(s.sel, uint32(b.Row(at)))
	}
	return s.visit(b, s.sel, visit)
}

func (s *splitter) byCounting(b *tuple.Batch, lo int64, width int, visit func(*tuple.Batch) error) error {
	ends := make([]int, width+1)
	for _, k := range s.slice {
		ends[k-lo+1]++
	}
	for i := range width {
		ends[i+1] += ends[i]
	}
	if cap(s.sel) < len(s.slice) {
		s.sel = make([]uint32, len(s.slice))
	}
	s.sel = s.sel[:len(s.slice)]
	for i, k := range s.slice {
		s.sel[ends[k-lo]] = uint32(b.Row(i))
		ends[k-lo]++
	}
	from := 0
	for _, end := range ends[:width] {
		if end > from {
			if err := s.visit(b, s.sel[from:end], visit); err != nil {
				return err
			}
		}
		from = end
	}
	return nil
}

func (s *splitter) visit(b *tuple.Batch, sel []uint32, visit func(*tuple.Batch) error) error {
	s.part = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: sel}
	return visit(&s.part)
}
