package fragment

import (
	"fmt"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/storage"
)

// startsState names the part of a recovery point that holds where the unacknowledged frames of each output begin. Of an
// output whose oldest frame is the GAP that begins a generation, the end of the generation before can be read nowhere else;
// a subscriber at that end goes on with the GAP.
const startsState = "starts"

// startsVersion is the version of that part. Version 1 has no stimes.
const startsVersion = 2

// start is where the frames of an output begin: behind at. The rows before it lie before lost; MinTime says nothing of them.
type start struct {
	at   tuple.Position
	lost tuple.Time
}

// past returns a start behind entries that are not there any more.
func (s start) past(gone []dcaa.Held) start {
	known := s.lost > tuple.MinTime || s.at.Generation != 0 && s.at.ID == 0
	for _, h := range gone {
		s.at = s.at.Past(h.Frame)
		if known {
			s.lost = max(s.lost, h.Lost())
		}
	}
	return s
}

// encodeStarts writes up to where frames of each output have been dropped.
func encodeStarts(outputs []readers) []byte {
	var e tuple.Encoder
	e.Uint(uint64(len(outputs)))
	for _, o := range outputs {
		e.String(o.stream)
		e.Uint(o.start.at.Generation)
		e.Uint(o.start.at.ID)
		e.Time(o.start.lost)
	}
	return e.B
}

// startsOf reads what encodeStarts has written, by stream. It is empty for a point without it.
func startsOf(p *storage.RecoveryPoint) (map[string]start, error) {
	out := make(map[string]start)
	b, dated := part(p, startsState, startsVersion), true
	if b == nil {
		b, dated = part(p, startsState, 1), false
	}
	if b == nil {
		return out, nil
	}
	d := tuple.NewDecoder(b)
	for range d.Count(3) {
		stream, s := d.String(), start{at: tuple.Position{Generation: d.Uint(), ID: d.Uint()}, lost: tuple.MinTime}
		if dated {
			s.lost = d.Time()
		}
		out[stream] = s
	}
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("starts of outputs: %w: %w", storage.ErrDamaged, err)
	}
	return out, nil
}

// startOf is where the frames of an output begin, and up to which stime rows before lie, MinTime if that is not known. That is behind the
// start that the point has if the first of them is the GAP behind which a generation begins, else where they show it.
func startOf(s *storage.OutputState, held []dcaa.Held, has start) (at tuple.Position, lost tuple.Time) {
	at, lost = tuple.Position{Generation: s.Generation, ID: s.NextID - 1, Time: tuple.MinTime}, tuple.MinTime
	if len(held) > 0 {
		first := held[0].Frame
		at.Generation, at.ID = first.Generation, before(first)
		if first.Kind == tuple.Gap && has.at.Generation != 0 && has.at.Generation < first.Generation {
			at.Generation, at.ID = has.at.Generation, has.at.ID
		}
	}
	if at.Compare(has.at) == 0 {
		lost = has.lost
	}
	return at, lost
}
