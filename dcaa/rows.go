package dcaa

import "fednode/query/tuple"

// latest returns the largest stime of a batch, MinTime if it has no rows.
func latest(b *tuple.Batch) tuple.Time {
	high := tuple.MinTime
	if b.Sel == nil {
		for _, t := range b.Time {
			high = max(high, t)
		}
		return high
	}
	for _, r := range b.Sel {
		high = max(high, b.Time[r])
	}
	return high
}

// earliest returns the smallest stime of a batch, MaxTime if it has no rows.
func earliest(b *tuple.Batch) tuple.Time {
	low := tuple.MaxTime
	if b.Sel == nil {
		for _, t := range b.Time {
			low = min(low, t)
		}
		return low
	}
	for _, r := range b.Sel {
		low = min(low, b.Time[r])
	}
	return low
}

// from returns a frame of rows without those before t, nil if none is left. Stable rows keep their ids.
func from(f *tuple.Frame, t tuple.Time) *tuple.Frame {
	if f.Batch.Rows() > 0 && t <= earliest(f.Batch) {
		return f
	}
	cut, view := *f, *f.Batch
	cut.Batch, view.Sel, cut.IDs = &view, nil, nil
	for k := range f.Batch.Rows() {
		row := f.Batch.Row(k)
		if f.Batch.Time[row] < t {
			continue
		}
		view.Sel = append(view.Sel, uint32(row))
		switch {
		case f.IDs != nil:
			cut.IDs = append(cut.IDs, f.IDs[k])
		case f.Kind == tuple.Insertion:
			cut.IDs = append(cut.IDs, f.FirstID+uint64(k))
		}
	}
	if view.Sel == nil {
		return nil
	}
	return &cut
}
