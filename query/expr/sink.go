package expr

import "fednode/query/tuple"

// Limits of what a string function makes: one result, and all results that an Eval keeps at a time if it shares no room.
// The second only guards the process against results that no stream could carry anyway.
const (
	MaxString = 1 << 20
	ownRoom   = 1 << 30
)

// sink is the dictionary that a kernel's binary results go to.
type sink struct {
	b *tuple.DictBuilder
	e *Eval
}

// newSink returns the sink for results of type t, nil if they are not binary.
func newSink(t tuple.Type, e *Eval) *sink {
	if !t.Kind.IsBinary() {
		return nil
	}
	return &sink{b: tuple.NewDictBuilder(), e: e}
}

// rotate begins a new dictionary if the current one is full, and reports whether it did. Codes given before are then
// those of another lineage, so it is called between batches only.
func (s *sink) rotate() bool {
	if s == nil || !s.b.Full() {
		return false
	}
	s.empty()
	return true
}

// empty begins a new dictionary. What others have of the old one they keep.
func (s *sink) empty() {
	s.e.room.take(-s.b.Size())
	s.b.Reset()
}

func (s *sink) add(v []byte) uint32 {
	before := s.b.Size()
	code := s.b.Intern(v)
	if n := s.b.Size() - before; n > 0 {
		s.e.room.take(n)
	}
	return code
}

// fits reports whether v may be added; what may not is null, and counted. What only keeps or cuts its argument is not
// held to the length, since the argument is there already.
func (s *sink) fits(v []byte, grown bool) bool {
	if (len(v) <= MaxString || !grown) && s.e.room.fits(len(v)) {
		return true
	}
	s.e.counters.Overflow++
	return false
}

func (s *sink) dict() *tuple.Dict { return s.b.Dict() }

// remap translates codes of one dictionary into those of a sink, each when first met.
type remap struct {
	line *tuple.Lineage
	to   []uint32 // code + 1, 0 where not met
}

func (m *remap) reset() { m.line = nil }

// ready makes the remap fit for the codes of d.
func (m *remap) ready(d *tuple.Dict) {
	if d == nil {
		return
	}
	if m.line != d.Lineage() {
		m.line = d.Lineage()
		clear(m.to)
		m.to = m.to[:0]
	}
	if n := len(m.to); n < d.Len() {
		m.to = growTo(m.to, d.Len())
		clear(m.to[n:])
	}
}

// code returns the sink's code for a code of d, for which the remap is ready.
func (m *remap) code(s *sink, d *tuple.Dict, code uint32) uint32 {
	if m.to[code] == 0 {
		m.to[code] = s.add(d.At(code)) + 1
	}
	return m.to[code] - 1
}

// merger collects one result from parts of several kernels.
type merger struct {
	out  vec
	sink *sink
	maps []remap // one a part
}

// begin empties the result and makes it n rows, all null.
func (m *merger) begin(n, parts int) {
	m.out.Valid = nil
	m.out.resize(n)
	fill(m.out.ownValid(n), false)
	m.maps = growTo(m.maps, parts)
	if m.sink.rotate() {
		for i := range m.maps {
			m.maps[i].reset()
		}
	}
}

// put places the rows of c, computed by the part-th kernel, at pos.
func (m *merger) put(part int, c *tuple.Column, pos []uint32) {
	if m.sink == nil {
		m.out.scatter(c, pos)
		return
	}
	r := &m.maps[part]
	r.ready(c.Dict)
	for i, p := range pos {
		if c.Valid == nil || c.Valid[i] {
			m.out.codes[p] = r.code(m.sink, c.Dict, c.Code[i])
			m.out.valid[p] = true
		} else {
			m.out.codes[p] = 0
			m.out.valid[p] = false
		}
	}
}

// done returns the result.
func (m *merger) done() *tuple.Column {
	if m.sink != nil {
		m.out.Dict = m.sink.dict()
	}
	return &m.out.Column
}
