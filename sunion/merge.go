package sunion

import "fednode/query/tuple"

// merger merges runs that are each in order into one sequence of batches. The rows of a batch are staged as they lie in
// their runs, end to end; their order is a selection. It keeps its buffers, and one dictionary a binary column into
// which the codes of all inputs are mapped, so that what follows sees one dictionary.
type merger struct {
	schema *tuple.Schema
	dicts  []*unified // nil for columns that are not binary
	rest   []run      // what the merge has not come to
	piece  []run      // the runs of one batch
	times  []tuple.Time
	cols   []tuple.Column
	ends   []int       // of sequences in order
	words  [2][]uint64 // packed rows: the order so far, and the one it is merged into
	sel    []uint32
	out    tuple.Batch // what was handed on last
}

func (m *merger) init(s *tuple.Schema) {
	m.schema = s
	m.cols = make([]tuple.Column, s.Len())
	m.dicts = make([]*unified, s.Len())
	for i, f := range s.Fields() {
		if f.Type.Kind.IsBinary() {
			m.dicts[i] = newUnified()
		}
	}
}

// run merges the runs by (stime, place of the run) and hands on batches of at most maxRows rows.
func (m *merger) run(runs []run, maxRows int, out func(*tuple.Batch) error) error {
	if s := spanOf(runs); s.wide() {
		early, late := s.split(runs)
		if err := m.run(early, maxRows, out); err != nil {
			return err
		}
		return m.run(late, maxRows, out)
	}
	m.rest = append(m.rest[:0], runs...)
	defer func() { clear(m.rest[:cap(m.rest)]); clear(m.piece[:cap(m.piece)]) }() // they hold batches
	for len(m.rest) > 0 {
		m.cut(maxRows)
		if err := out(m.batch()); err != nil {
			return err
		}
	}
	return nil
}

// batch returns the rows of the piece in order, as a borrowed batch.
func (m *merger) batch() *tuple.Batch {
	m.stage()
	m.out = tuple.Batch{Schema: m.schema, Time: m.times, Cols: m.cols, Ordered: true}
	if len(m.ends) > 1 {
		m.out.Sel = m.order()
	}
	return &m.out
}

// order merges neighbouring sequences pairwise until one is left, and returns the places of its rows in the staged ones.
func (m *merger) order() []uint32 {
	n := len(m.times)
	src, dst := sized(m.words[0], n), sized(m.words[1], n)
	m.words, m.sel = [2][]uint64{src, dst}, sized(m.sel, n)
	pack(src, m.times, m.low())
	for len(m.ends) > 2 {
		m.ends = mergePairs(dst, src, m.ends)
		src, dst = dst, src
	}
	mid := m.ends[0]
	mergeTwo(m.sel, src[:mid], src[mid:])
	return m.sel
}

// A word is one row on its way through the merge: its stime above that of the piece's first, then its place in the
// staged rows. Runs come by input and then by id, so that the order of words is the union's, and no two are equal.
const (
	placeBits = 32
	spanBits  = 64 - placeBits
)

func pack(words []uint64, times []tuple.Time, low tuple.Time) {
	words = words[:len(times)]
	for i, t := range times {
		words[i] = uint64(t-low)<<placeBits | uint64(i)
	}
}

// low returns the least stime of the staged rows.
func (m *merger) low() tuple.Time {
	low, begin := tuple.MaxTime, 0
	for _, end := range m.ends {
		low, begin = min(low, m.times[begin]), end
	}
	return low
}

// mergePairs merges each two neighbouring sequences of src, which end at ends, and returns where those of dst end. It
// writes over ends.
func mergePairs(dst, src []uint64, ends []int) []int {
	kept, begin := ends[:0], 0
	for k := 0; k < len(ends); k += 2 {
		mid, end := ends[k], ends[min(k+1, len(ends)-1)]
		mergeTwo(dst[begin:end], src[begin:mid], src[mid:end])
		kept, begin = append(kept, end), end
	}
	return kept
}
