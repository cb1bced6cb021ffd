package query

import (
	"fmt"

	"fednode/query/tuple"
)

// Graft returns a snapshot of the fragment in which everything downstream of the SUnions for which take, indexed like
// Unions, is true is that of theirs, and the rest that of mine. Nothing downstream of one of them is downstream of another
// SUnion. The error wraps tuple.ErrCorrupt if a snapshot cannot be read, or lacks what is to be had from it.
func (f *FragmentPlan) Graft(mine, theirs []byte, take []bool) ([]byte, error) {
	var from [2]snapshot
	for n, b := range [][]byte{mine, theirs} {
		var err error
		if from[n], err = readSnapshot(tuple.NewDecoder(b)); err != nil {
			return nil, err
		}
	}
	side := func(theirs bool) *snapshot {
		if theirs {
			return &from[1]
		}
		return &from[0]
	}
	var e tuple.Encoder
	e.Uint(snapshotVersion)
	e.Uint(uint64(len(f.Unions)))
	for u := range f.Unions {
		name := f.unionName(u)
		at, ok := side(take[u]).boundaries[name]
		if !ok {
			return nil, fmt.Errorf("snapshot of fragment %s without SUnion %s: %w", f.Name, name, tuple.ErrCorrupt)
		}
		e.String(name)
		e.Time(at)
	}
	e.Uint(uint64(len(f.Operators)))
	for n, below := range f.downstream(take) {
		name := f.Operators[n].Name
		s, ok := side(below).states[name]
		if !ok {
			return nil, fmt.Errorf("snapshot of fragment %s without operator %s: %w", f.Name, name, tuple.ErrCorrupt)
		}
		s.write(&e, name)
	}
	return e.B, nil
}

// downstream says which operators are downstream of those SUnions for which from is true.
func (f *FragmentPlan) downstream(from []bool) []bool {
	below := make([]bool, len(f.Operators))
	var walk func([]target)
	walk = func(to []target) {
		for _, t := range to {
			if t.operator < 0 || below[t.operator] {
				continue
			}
			below[t.operator] = true
			for _, next := range f.Operators[t.operator].to {
				walk(next)
			}
		}
	}
	for u, yes := range from {
		if yes {
			walk(f.Unions[u].to)
		}
	}
	return below
}
