package sunion

import (
	"math"
	"math/bits"
	"slices"

	"fednode/query/tuple"
)

// checkStretch is the length of a stretch of a checksum in microseconds of stime.
const checkStretch = int64(tuple.Minute)

// Checksum sums up the stable rows that an output gives, so that consumers see whether its replicas give the same. What it
// says at a boundary depends on the rows before the boundary and their ids alone, not on how they are batched, nor on what
// has been given beyond. The zero Checksum is not usable.
//
// Stime is divided into stretches of a minute. A checksum is of the present stretch up to the boundary, and of the whole one
// before: so every row is covered by some boundary, unless those of more than a minute are passed over, and a replica that has
// lost its sums has them again soon.
type Checksum struct {
	last ChecksumState
	// ahead are rows that no boundary has passed yet.
	ahead []aheadRow
	// hashes are those of a frame being taken.
	hashes []uint64
}

// aheadRow is a row that no boundary has passed yet.
type aheadRow struct {
	at   tuple.Time
	hash uint64
}

// ChecksumState is what a recovery point holds of a checksum.
type ChecksumState struct {
	Generation uint64
	// At is the number of the present stretch, notBegun until a boundary shows it, Sum that of its rows, Before of those of the one before.
	At          int64
	Sum, Before uint64
	// From is the first stretch of which all rows are known.
	From int64
}

// notBegun is before every stretch.
const notBegun = math.MinInt64

// stretchOf returns the number of the stretch that a stime is in.
func stretchOf(t tuple.Time) int64 {
	s := int64(t) / checkStretch
	if int64(t)%checkStretch < 0 {
		s--
	}
	return s
}

// NewChecksum returns the checksum of an output that has given nothing in a generation.
func NewChecksum(generation uint64) *Checksum {
	return &Checksum{last: ChecksumState{Generation: generation, At: notBegun, From: notBegun}}
}

// RestoreChecksum goes on from a recovery point of an output.
func RestoreChecksum(s ChecksumState) *Checksum { return &Checksum{last: s} }

// LateChecksum returns the checksum of an output of whose rows so far nothing is known. They reach at most a stretch beyond
// the boundary.
func LateChecksum(o OutputState) *Checksum {
	if o.Next == 1 {
		return NewChecksum(o.Generation)
	}
	at := stretchOf(o.Boundary)
	return &Checksum{last: ChecksumState{Generation: o.Generation, At: at, From: at + 2}}
}

// State returns what a recovery point holds. Rows that no boundary has passed are not among it: their stretches are not
// known any more then.
func (c *Checksum) State() ChecksumState {
	s := c.last
	for _, r := range c.ahead {
		s.From = max(s.From, stretchOf(r.at)+1)
	}
	return s
}

// Rows takes the next rows: an INSERTION with all ids of its stretch and a dense batch.
func (c *Checksum) Rows(f *tuple.Frame) {
	c.enter(f.Generation)
	c.hashes = hashRows(c.hashes[:0], f.Batch)
	c.ahead = slices.Grow(c.ahead, len(c.hashes))
	for i, h := range c.hashes {
		c.ahead = append(c.ahead, aheadRow{at: f.Batch.Time[i], hash: tuple.Mix64(h + (f.FirstID+uint64(i))*golden)})
	}
}

// golden spreads ids over the whole word.
const golden = 0x9e3779b97f4a7c15

// enter begins a generation, unless it is the present one.
func (c *Checksum) enter(generation uint64) {
	if generation != c.last.Generation {
		*c = Checksum{last: NewChecksum(generation).last, hashes: c.hashes}
	}
}

// Boundary passes a boundary of a generation and returns the checksum of the rows before it, 0 if it is not known.
func (c *Checksum) Boundary(generation uint64, t tuple.Time) uint64 {
	c.enter(generation)
	c.begin(stretchOf(t))
	c.pass(t)
	s := &c.last
	if s.At <= s.From {
		return 0
	}
	if sum := fold(tuple.Mix64(s.Before+golden), s.Sum); sum != 0 {
		return sum
	}
	return golden
}

// begin goes on to the stretch of a boundary, if it is a later one. However many lie between, only the one before it counts.
func (c *Checksum) begin(stretch int64) {
	s := &c.last
	if stretch <= s.At {
		return
	}
	s.Before = 0
	if stretch-1 == s.At {
		s.Before = s.Sum
	}
	s.At, s.Sum = stretch, 0
}

// pass sums the rows up that lie before t, in the present stretch and in the one before, and keeps those that do not. It
// looks at each once: a backlog may span any number of stretches.
func (c *Checksum) pass(t tuple.Time) {
	rest := c.ahead[:0]
	for _, r := range c.ahead {
		if r.at >= t {
			rest = append(rest, r)
			continue
		}
		switch stretchOf(r.at) {
		case c.last.At:
			c.last.Sum += r.hash
		case c.last.At - 1:
			c.last.Before += r.hash
		}
	}
	c.ahead = rest
}

// hashRows appends a hash of each row of a dense batch, column by column.
func hashRows(hashes []uint64, b *tuple.Batch) []uint64 {
	for _, t := range b.Time {
		hashes = append(hashes, tuple.Mix64(uint64(t)))
	}
	for k := range b.Cols {
		c := &b.Cols[k]
		switch {
		case c.Type.Kind.IsInt() && c.Valid == nil:
			for i, v := range c.Int {
				hashes[i] = fold(hashes[i], tuple.Mix64(uint64(v)))
			}
		case c.Type.Kind.IsBinary() && c.Valid == nil:
			hashBinary(hashes, c)
		default:
			for i := range hashes {
				hashes[i] = c.HashInto(hashes[i], i)
			}
		}
	}
	return hashes
}

// hashBinary hashes a value once where it comes several times in a row.
func hashBinary(hashes []uint64, c *tuple.Column) {
	last, hash := ^uint32(0), uint64(0)
	for i, code := range c.Code {
		if code != last {
			last, hash = code, tuple.HashBytes(c.Dict.At(code))
		}
		hashes[i] = fold(hashes[i], hash)
	}
}

// fold takes a value into the hash of a row, as Column.HashInto does.
func fold(h, v uint64) uint64 { return tuple.Mix64(bits.RotateLeft64(h, 23) ^ v) }
