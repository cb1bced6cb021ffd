package fragment

import (
	"fmt"

	"fednode/query/op"
)

// crowded fails when the inputs keep more than they may. An input that is ahead of others is held long before; what is left
// is one that sends rows and no boundary, because it waits for its end.
func (r *Runner) crowded() error {
	sum, most, largest := int64(0), int64(0), ""
	for n, in := range r.inputs {
		bytes := r.core.Kept(n)
		sum += bytes
		if bytes > most {
			most, largest = bytes, in.stream
		}
	}
	if sum <= r.cfg.InputBytes {
		return nil
	}
	what := fmt.Sprintf("fragment %s: bytes of input that wait for a boundary, most of them of stream %s (with max_out_of_order = \"inf\" it comes at the end: give a duration)", r.cfg.Name, largest)
	return &op.LimitError{What: what, Limit: r.cfg.InputBytes}
}
