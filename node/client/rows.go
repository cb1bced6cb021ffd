package client

import "fednode/query/tuple"

// span returns the smallest and the largest stime of a batch; MaxTime and MinTime if it has no rows.
func span(b *tuple.Batch) (low, high tuple.Time) {
	low, high = tuple.MaxTime, tuple.MinTime
	if b.Sel == nil {
		for _, t := range b.Time {
			low, high = min(low, t), max(high, t)
		}
		return low, high
	}
	for _, r := range b.Sel {
		low, high = min(low, b.Time[r]), max(high, b.Time[r])
	}
	return low, high
}

// since returns a frame of stable rows without those before t, nil if none is left.
func since(f *tuple.Frame, t tuple.Time) *tuple.Frame {
	cut := *f
	cut.Batch = &tuple.Batch{Schema: f.Batch.Schema, Time: f.Batch.Time, Cols: f.Batch.Cols, Ordered: f.Batch.Ordered}
	cut.IDs = nil
	for n := range f.Batch.Rows() {
		row := f.Batch.Row(n)
		if f.Batch.Time[row] < t {
			continue
		}
		id := f.FirstID + uint64(n)
		if f.IDs != nil {
			id = f.IDs[n]
		}
		cut.Batch.Sel, cut.IDs = append(cut.Batch.Sel, uint32(row)), append(cut.IDs, id)
	}
	if cut.IDs == nil {
		return nil
	}
	return &cut
}
