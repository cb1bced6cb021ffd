package sunion

import "fednode/query/tuple"

// view is a borrowed batch that shows some rows of a received one. Each takes the place of the last, so that a range costs
// no memory of its own.
type view struct {
	batch tuple.Batch
	cols  []tuple.Column
}

// of returns a view of the entries [lo, hi) of a chunk. The received batch is left as it is, since others may hold it.
func (v *view) of(c *chunk, lo, hi int) *tuple.Batch {
	b := c.batch
	v.batch = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Ordered: true}
	switch {
	case c.order != nil:
		v.batch.Sel = c.order[lo:hi]
	case lo > 0 || hi < len(b.Time):
		v.cols = v.cols[:0]
		for i := range b.Cols {
			v.cols = append(v.cols, b.Cols[i].Slice(lo, hi))
		}
		v.batch.Time, v.batch.Cols = b.Time[lo:hi], v.cols
	}
	return &v.batch
}

// clear lets go of what was shown last.
func (v *view) clear() {
	v.batch = tuple.Batch{}
	clear(v.cols)
}
