package aggfn

import (
	"math"
	"math/bits"
)

// sketch is a set of hashes. Up to sparseMax it keeps the hashes themselves, and counts exactly but for collisions of 64
// bits; beyond, it keeps for each of 2^14 parts of the hash space the longest run of zeros seen (HyperLogLog), with a
// standard error of 0.8 %. Which of the two depends on the set alone, never on the order or the merges.
type sketch struct {
	owner *sketchOwner
	table []uint64 // open addressing; 0 is free
	n     int      // hashes in table
	zero  bool     // the hash 0 is in the set
	dense *[registerCount]uint8
}

type sketchOwner struct{ _ uint64 }

const (
	precision     = 14
	registerCount = 1 << precision
	sparseMax     = 1024
	// maxRun is the longest run the registers can hold.
	maxRun = 64 - precision + 1
)

func (s *sketch) bytes() int64 {
	n := int64(64 + 8*len(s.table))
	if s.dense != nil {
		n += registerCount
	}
	return n
}

func (s *sketch) clone(o *sketchOwner) *sketch {
	c := *s
	c.owner = o
	c.table = append([]uint64(nil), s.table...)
	if s.dense != nil {
		d := *s.dense
		c.dense = &d
	}
	return &c
}

// register returns the part of a hash and the run of zeros that follows, counted from one.
func register(h uint64) (part uint64, run uint8) {
	return h >> (64 - precision), uint8(bits.LeadingZeros64(h<<precision|1<<(precision-1)) + 1)
}

// has reports whether adding h would change nothing.
func (s *sketch) has(h uint64) bool {
	switch {
	case s.dense != nil:
		part, run := register(h)
		return s.dense[part] >= run
	case h == 0:
		return s.zero
	case len(s.table) == 0:
		return false
	}
	mask := uint64(len(s.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.table[i] {
		case h:
			return true
		case 0:
			return false
		}
	}
}

func (s *sketch) add(h uint64) {
	switch {
	case s.has(h):
	case s.dense != nil:
		part, run := register(h)
		s.dense[part] = run
	case s.n+boolInt(s.zero) == sparseMax:
		s.densify()
		s.add(h)
	case h == 0:
		s.zero = true
	default:
		if 2*s.n >= len(s.table) {
			s.grow()
		}
		s.place(h)
		s.n++
	}
}

func (s *sketch) place(h uint64) {
	mask := uint64(len(s.table) - 1)
	i := h & mask
	for s.table[i] != 0 {
		i = (i + 1) & mask
	}
	s.table[i] = h
}

func (s *sketch) grow() {
	old := s.table
	s.table = make([]uint64, max(8, 2*len(old)))
	for _, h := range old {
		if h != 0 {
			s.place(h)
		}
	}
}

func (s *sketch) hashes(dst []uint64) []uint64 {
	if s.zero {
		dst = append(dst, 0)
	}
	for _, h := range s.table {
		if h != 0 {
			dst = append(dst, h)
		}
	}
	return dst
}

func (s *sketch) densify() {
	all := s.hashes(nil)
	s.table, s.n, s.zero = nil, 0, false
	s.dense = new([registerCount]uint8)
	for _, h := range all {
		s.add(h)
	}
}

func (s *sketch) merge(o *sketch) {
	if o.dense == nil {
		for _, h := range o.hashes(nil) {
			s.add(h)
		}
		return
	}
	if s.dense == nil {
		s.densify()
	}
	for i, r := range o.dense {
		s.dense[i] = max(s.dense[i], r)
	}
}

// estimate returns the number of distinct hashes. For registers it is Ertl's improved raw estimate (arXiv 1702.01284,
// section 4), which needs no tables of corrections and only correctly rounded operations.
func (s *sketch) estimate() int64 {
	if s.dense == nil {
		return int64(s.n + boolInt(s.zero))
	}
	var counts [maxRun + 1]int
	for _, r := range s.dense {
		counts[r]++
	}
	const m = float64(registerCount)
	z := float64(m * tau(1-float64(counts[maxRun])/m))
	for k := maxRun - 1; k >= 1; k-- {
		z = float64(0.5 * (z + float64(counts[k])))
	}
	z += float64(m * sigma(float64(counts[0])/m))
	const alphaInf = 0.5 / math.Ln2
	return int64(math.RoundToEven(float64(alphaInf*m) * m / z))
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x = float64(x * x)
		last := z
		z += float64(x * y)
		y += y
		if z == last {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		last := z
		y = float64(0.5 * y)
		d := 1 - x
		z -= float64(float64(d*d) * y)
		if z == last {
			return z / 3
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
