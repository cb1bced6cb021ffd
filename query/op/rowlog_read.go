package op

import "fednode/query/tuple"

// rowBytes estimates the memory of one row.
func rowBytes(s *tuple.Schema) int64 {
	n := int64(8)
	for _, f := range s.Fields() {
		switch k := f.Type.Kind; {
		case k == tuple.Bool:
			n++
		case k.IsBinary():
			n += 4
		case k == tuple.List:
			n += 68
		default:
			n += 8
		}
	}
	return n
}

// takePositions adds the rows of a log at some positions, as many at once as lie in one chunk.
func (a *assembly) takePositions(l *rowLog, positions []int64) {
	for i := 0; i < len(positions); {
		b, row := l.at(positions[i])
		start := positions[i] - int64(row)
		a.sel = a.sel[:0]
		for ; i < len(positions) && positions[i] >= start && positions[i] < start+chunkRows; i++ {
			a.sel = append(a.sel, uint32(positions[i]-start))
		}
		for j := range b.Cols {
			a.take(j, &b.Cols[j], a.sel)
		}
		a.times(b.Time, a.sel)
	}
}

// addSlice adds rows [lo, hi) of a dense batch of the same schema.
func (a *assembly) addSlice(b *tuple.Batch, lo, hi int) {
	s := b.Slice(lo, hi)
	for j := range s.Cols {
		a.take(j, &s.Cols[j], nil)
	}
	a.times(s.Time, nil)
}
