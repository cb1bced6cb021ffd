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
