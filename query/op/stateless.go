package op

import "fednode/query/tuple"

// stateless is the part that operators without state share: boundaries pass at once, since every row below them has
// left already, and there is nothing to store.
type stateless struct{ counters Counters }

func (s *stateless) count(in, out int) {
	s.counters.RowsIn += uint64(in)
	s.counters.RowsOut += uint64(out)
}

// Boundary passes t on.
func (*stateless) Boundary(_ int, t tuple.Time, _ Out) (tuple.Time, error) { return t, nil }

// Snapshot writes nothing.
func (*stateless) Snapshot(*tuple.Encoder) {}

// Restore reads nothing.
func (*stateless) Restore(*tuple.Decoder) {}

// StateBytes is 0.
func (*stateless) StateBytes() int64 { return 0 }

// Counters returns the rows in and out.
func (s *stateless) Counters() Counters { return s.counters }
