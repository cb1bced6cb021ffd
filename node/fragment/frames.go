package fragment

import (
	"fmt"
	"slices"

	"fednode/query/tuple"
)

// notRows stands where a frame of rows has its generation, which is at least 1: a GAP follows.
const notRows = 0

// encodeFrame writes an INSERTION frame of a known schema.
func encodeFrame(f *tuple.Frame) []byte {
	var e tuple.Encoder
	e.Uint(f.Generation)
	e.Uint(f.FirstID)
	e.Uint(f.LastID)
	e.Uint64s(f.IDs)
	e.Batch(f.Batch)
	return e.B
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

// decodeFrame reads what encodeFrame or encodeGap has written.
func decodeFrame(b []byte, schema *tuple.Schema) (*tuple.Frame, error) {
	d := tuple.NewDecoder(b)
	generation := d.Uint()
	if d.Err() == nil && generation == notRows {
		f := &tuple.Frame{Kind: tuple.Gap, Generation: d.Uint(), FirstID: d.Uint(), Time: d.Time(), To: d.Time(), Reason: d.String()}
		return f, d.Close()
	}
	f := &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: d.Uint(), LastID: d.Uint(), IDs: d.Uint64s()}
	if len(f.IDs) == 0 {
		f.IDs = nil
	}
	f.Batch = d.Batch(schema)
	if err := d.Close(); err != nil {
		return nil, err
	}
	if n := uint64(f.Batch.Rows()); f.IDs == nil && f.LastID-f.FirstID+1 != n {
		return nil, fmt.Errorf("%w: ids %d to %d for %d rows", tuple.ErrCorrupt, f.FirstID, f.LastID, n)
	}
	return f, nil
}

// withBoundary adds the newest boundary to the frames of a point, behind the last rows. Who has it may still lack a GAP
// that came later, so gaps stand behind it: one that came earlier is heard of twice.
func withBoundary(frames []*tuple.Frame, generation uint64, t tuple.Time) []*tuple.Frame {
	if t == tuple.MinTime {
		return frames
	}
	n := len(frames)
	for n > 0 && frames[n-1].Kind == tuple.Gap {
		n--
	}
	return slices.Insert(frames, n, &tuple.Frame{Kind: tuple.Boundary, Generation: generation, Time: t})
}

// before returns the last id before a frame.
func before(f *tuple.Frame) uint64 {
	if f.Kind == tuple.Gap {
		return f.FirstID
	}
	return f.FirstID - 1
}
