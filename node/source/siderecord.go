package source

import (
	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/query/tuple"
)

// SideKind is one of the two streams of what is not part of a source's stream.
type SideKind uint8

// The kinds.
const (
	// Late are rows that came too late, or too far ahead of their arrival.
	Late SideKind = iota
	// Unreadable are records that could not be read.
	Unreadable
	sideKinds
)

// Suffix is what follows the source's name in the name of its side stream.
func (k SideKind) Suffix() string {
	return [sideKinds]string{Late: ".late", Unreadable: ".errors"}[k]
}

// side is what a commit sets aside. Everything is kept as it came, so that nothing has to be rendered for a reader that
// may never come.
type side struct {
	// clock is the stime of all of it: the arrival, but never less than the clock of an earlier commit.
	clock tuple.Time
	// ids are those of what is set aside, by kind.
	ids [sideKinds]stretch
	// rows are the late and future ones, nil if there are none; verdicts[i] is about row i.
	rows     *tuple.Batch
	verdicts []ingest.Verdict
	rejects  []connect.Reject
}

// stretch is n ids from first on.
type stretch struct{ first, n uint64 }

// next is the id that follows.
func (s stretch) next() uint64 { return s.first + s.n }

// follow makes s the side of the commit after one whose side was last, made at a time of arrival.
func (s *side) follow(last *side, arrival tuple.Time) {
	s.clock = max(arrival, last.clock)
	s.ids[Late] = stretch{last.ids[Late].next(), uint64(len(s.verdicts))}
	s.ids[Unreadable] = stretch{last.ids[Unreadable].next(), uint64(len(s.rejects))}
}

// newSide is what the first commit of a generation follows.
func newSide() side {
	return side{clock: tuple.MinTime, ids: [sideKinds]stretch{{first: 1}, {first: 1}}}
}

// setAside keeps rows of a batch, which stays as it is.
func (s *side) setAside(b *tuple.Batch, verdicts []ingest.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	sel := make([]uint32, len(verdicts))
	s.verdicts = make([]ingest.Verdict, len(verdicts))
	for i, v := range verdicts {
		sel[i] = v.Row
		v.Row = uint32(i)
		s.verdicts[i] = v
	}
	s.rows = (&tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: sel}).Clone()
}

// maxRaw bounds the beginnings of unreadable records that one commit keeps, in bytes; of further ones their place tells
// where they are.
const maxRaw = 4 << 20

// encode appends the numbers, and the rest as a block that can be passed over.
func (s *side) encode(e *tuple.Encoder) {
	e.Time(s.clock)
	for _, ids := range s.ids {
		e.Uint(ids.first)
		e.Uint(ids.n)
	}
	var block tuple.Encoder
	if len(s.verdicts) > 0 {
		for _, v := range s.verdicts {
			block.Bool(v.Late)
			block.Time(v.Limit)
		}
		block.Batch(s.rows)
	}
	held := 0
	for i := range s.rejects {
		r := &s.rejects[i]
		raw := r.Raw
		if held += len(raw); held > maxRaw {
			raw = nil
		}
		block.Uint(uint64(r.Reason))
		block.String(r.Field)
		block.String(r.Place.File)
		block.Int(r.Place.Line)
		block.Int(r.Place.Offset)
		block.Int(r.Size)
		block.String(r.Detail)
		block.Bytes(raw)
	}
	e.Bytes(block.B)
}

// decodeSide reads a side; with content false the numbers only.
func decodeSide(d *tuple.Decoder, schema *tuple.Schema, content bool) (s side) {
	s.clock = d.Time()
	for k := range s.ids {
		s.ids[k] = stretch{d.Uint(), d.Uint()}
	}
	block := d.Bytes()
	if !content || d.Err() != nil {
		return s
	}
	b := tuple.NewDecoder(block)
	s.decodeRows(b, schema)
	s.decodeRejects(b)
	if err := b.Close(); err != nil {
		d.Fail("set aside: %v", err)
	}
	return s
}

// minVerdict and minReject are the bytes of the smallest possible verdict and reject: they bound what a count may ask for.
const (
	minVerdict = 2
	minReject  = 8
)

func (s *side) decodeRows(d *tuple.Decoder, schema *tuple.Schema) {
	n := s.ids[Late].n
	if n == 0 {
		return
	}
	if n > uint64(d.Remaining()/minVerdict) {
		d.Fail("%d rows announced, %d bytes left", n, d.Remaining())
		return
	}
	s.verdicts = make([]ingest.Verdict, n)
	for i := range s.verdicts {
		s.verdicts[i] = ingest.Verdict{Row: uint32(i), Late: d.Bool(), Limit: d.Time()}
	}
	s.rows = d.Batch(schema)
	if d.Err() == nil && s.rows.Rows() != len(s.verdicts) {
		d.Fail("%d rows, %d verdicts", s.rows.Rows(), len(s.verdicts))
	}
}

func (s *side) decodeRejects(d *tuple.Decoder) {
	n := s.ids[Unreadable].n
	if n > uint64(d.Remaining()/minReject) {
		d.Fail("%d records announced, %d bytes left", n, d.Remaining())
		return
	}
	for range n {
		r := connect.Reject{Reason: connect.Reason(d.Uint()), Field: d.String()}
		r.Place = connect.Place{File: d.String(), Line: d.Int(), Offset: d.Int()}
		r.Size, r.Detail = d.Int(), d.String()
		r.Raw = append([]byte(nil), d.Bytes()...)
		s.rejects = append(s.rejects, r)
	}
}
