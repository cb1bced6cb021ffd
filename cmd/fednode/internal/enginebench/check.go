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
	n := len(b.Time)
	if b.Time[0] < c.last || b.Time[n-1] < b.Time[0] {
		return fmt.Errorf("enginebench: merged rows are not in order: %v after %v", b.Time[0], c.last)
	}
	c.rows, c.last = c.rows+n, b.Time[n-1]
	return nil
}

// all fails if the rows were not as many as they should be.
func (c *check) all(want int) error {
	if c.rows != want {
		return fmt.Errorf("enginebench: %d rows came out of the SUnion, want %d", c.rows, want)
	}
	return nil
}
