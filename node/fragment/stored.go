package fragment

import (
	"fmt"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// encodeStored adds an INSERTION or BOUNDARY to a record of an overflow.
func encodeStored(e *tuple.Encoder, f *tuple.Frame) {
	if f.Kind == tuple.Insertion {
		appendFrame(e, f)
		return
	}
	e.Uint(notRows)
	e.Uint(f.Generation)
	e.Time(f.Time)
	e.Int(f.Age)
	e.Int(f.Normal)
}

// decodeStored reads the frames of a record of an overflow.
func decodeStored(b []byte, schema *tuple.Schema) (frames []*tuple.Frame, err error) {
	d := tuple.NewDecoder(b)
	for d.Err() == nil && d.Remaining() > 0 {
		generation := d.Uint()
		if generation == notRows {
			frames = append(frames, &tuple.Frame{Kind: tuple.Boundary, Generation: d.Uint(), Time: d.Time(), Age: d.Int(), Normal: d.Int()})
			continue
		}
		f, err := restOfFrame(d, generation, schema)
		if err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return frames, d.Close()
}

// awayMark stands where a GAP has its generation, which is at least 1: what is away follows.
const awayMark = 0

// encodeAway writes what stands for frames that an overflow holds.
func encodeAway(h dcaa.Held) []byte {
	var e tuple.Encoder
	e.Uint(notRows)
	e.Uint(awayMark)
	e.Uint(h.Frame.Generation)
	e.Uint(h.Frame.FirstID)
	e.Uint(h.Frame.LastID)
	e.Uint(h.Away.Record)
	e.Int(h.Away.Bytes)
	e.Time(h.Away.Time)
	e.Time(h.Away.Latest)
	return e.B
}

// decodeAway reads the rest of it.
func decodeAway(d *tuple.Decoder) (h dcaa.Held, err error) {
	h.Frame = &tuple.Frame{Kind: tuple.Insertion, Generation: d.Uint(), FirstID: d.Uint(), LastID: d.Uint()}
	h.Away = dcaa.Away{Record: d.Uint(), Bytes: d.Int(), Time: d.Time(), Latest: d.Time()}
	if err := d.Close(); err != nil {
		return h, err
	}
	if h.Away.Record == 0 || h.Frame.FirstID == 0 || h.Frame.LastID < h.Frame.FirstID || h.Away.Bytes < 0 {
		return h, fmt.Errorf("%w: record %d of %d bytes with ids %d to %d", tuple.ErrCorrupt, h.Away.Record, h.Away.Bytes, h.Frame.FirstID, h.Frame.LastID)
	}
	return h, nil
}
