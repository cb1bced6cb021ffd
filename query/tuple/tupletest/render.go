package tupletest

import (
	"fednode/query/tuple"
)

// Lines renders each selected row of the batches as stime and JSON values: equal lines are equal rows.
func Lines(batches ...*tuple.Batch) []string {
	lines := []string{}
	for _, b := range batches {
		for i := range b.Rows() {
			lines = append(lines, line(b, b.Row(i)))
		}
	}
	return lines
}

func line(b *tuple.Batch, row int) string {
	text := append([]byte(b.Time[row].String()), ' ', '[')
	for i := range b.Cols {
		if i > 0 {
			text = append(text, ',')
		}
		text = b.Cols[i].AppendJSON(text, row, tuple.FloatString)
	}
	return string(append(text, ']'))
}

// Hash folds all selected rows into one number, by the hash that the engine decides by.
func Hash(batches ...*tuple.Batch) uint64 {
	h := uint64(1)
	for _, b := range batches {
		for i := range b.Rows() {
			row := b.Row(i)
			h = tuple.Mix64(h ^ uint64(b.Time[row]))
			for k := range b.Cols {
				h = b.Cols[k].HashInto(h, row)
			}
		}
	}
	return h
}
