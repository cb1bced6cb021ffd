package enginebench

import (
	"fmt"

	"fednode/query/tuple"
)

// check counts merged rows and looks at the ends of each batch.
type check struct {
	rows int
	last tuple.Time
}

func (c *check) batch(b *tuple.Batch) error {
	n := b.Rows()
	first, last := b.Time[b.Row(0)], b.Time[b.Row(n-1)]
	if first < c.last || last < first {
		return fmt.Errorf("enginebench: merged rows are not in order: %v to %v after %v", first, last, c.last)
	}
	c.rows, c.last = c.rows+n, last
	return nil
}

// all fails if the rows were not as many as they should be.
func (c *check) all(want int) error {
	if c.rows != want {
		return fmt.Errorf("enginebench: %d rows came out of the SUnion, want %d", c.rows, want)
	}
	return nil
}
