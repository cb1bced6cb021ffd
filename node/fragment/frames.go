package fragment

import (
	"fmt"
	"slices"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// notRows stands where a frame of rows has its generation, which is at least 1: a GAP follows, or a BOUNDARY where there are
// no gaps.
const notRows = 0

// encodeFrame writes an INSERTION frame of a known schema.
func encodeFrame(f *tuple.Frame) []byte {
	var e tuple.Encoder
	appendFrame(&e, f)
	return e.B
}

func appendFrame(e *tuple.Encoder, f *tuple.Frame) {
	e.Uint(f.Generation)
	e.Uint(f.FirstID)
	e.Uint(f.LastID)
	e.Uint64s(f.IDs)
	e.Batch(f.Batch)
}

// encodeGap writes a GAP frame.
func encodeGap(f *tuple.Frame) []byte {
	var e tuple.Encoder
	e.Uint(notRows)
	e.Uint(f.Generation)
	e.Uint(f.FirstID)
	e.Time(f.Time)
	e.Time(f.To)
	e.String(f.Reason)
	return e.B
}

// decodeHeld reads what encodeFrame, encodeGap or encodeAway has written.
func decodeHeld(b []byte, schema *tuple.Schema) (h dcaa.Held, err error) {
	d := tuple.NewDecoder(b)
	generation := d.Uint()
	if d.Err() != nil || generation != notRows {
		if h.Frame, err = restOfFrame(d, generation, schema); err == nil {
			err = d.Close()
		}
		return h, err
	}
	if generation = d.Uint(); d.Err() == nil && generation == awayMark {
		return decodeAway(d)
	}
	h.Frame = &tuple.Frame{Kind: tuple.Gap, Generation: generation, FirstID: d.Uint(), Time: d.Time(), To: d.Time(), Reason: d.String()}
	return h, d.Close()
}

// restOfFrame reads a frame of rows behind its generation.
func restOfFrame(d *tuple.Decoder, generation uint64, schema *tuple.Schema) (*tuple.Frame, error) {
	f := &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: d.Uint(), LastID: d.Uint(), IDs: d.Uint64s()}
	if len(f.IDs) == 0 {
		f.IDs = nil
	}
	f.Batch = d.Batch(schema)
	if err := d.Err(); err != nil {
		return nil, err
	}
	if n := uint64(f.Batch.Rows()); f.IDs == nil && f.LastID-f.FirstID+1 != n {
		return nil, fmt.Errorf("%w: ids %d to %d for %d rows", tuple.ErrCorrupt, f.FirstID, f.LastID, n)
	}
	return f, nil
}

// withBoundary adds the newest boundary to the frames of a point, behind the last rows and in their generation; in that of the
// point's start if there are none. Who has it may still lack a GAP that came later, so gaps stand behind it: one that came
// earlier is heard of twice.
func withBoundary(held []dcaa.Held, generation uint64, t tuple.Time) []dcaa.Held {
	if t == tuple.MinTime {
		return held
	}
	n := len(held)
	for n > 0 && held[n-1].Frame.Kind == tuple.Gap {
		n--
	}
	if n > 0 {
		generation = held[n-1].Frame.Generation
	}
	return slices.Insert(held, n, dcaa.Held{Frame: &tuple.Frame{Kind: tuple.Boundary, Generation: generation, Time: t}})
}

// before returns the last id before a frame.
func before(f *tuple.Frame) uint64 {
	if f.Kind == tuple.Gap {
		return f.FirstID
	}
	return f.FirstID - 1
}
