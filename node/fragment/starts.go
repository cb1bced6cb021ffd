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

// startsVersion is the version of that part.
const startsVersion = 1

// encodeStarts writes up to where frames of each output have been dropped.
func encodeStarts(outputs []readers) []byte {
	var e tuple.Encoder
	e.Uint(uint64(len(outputs)))
	for _, o := range outputs {
		e.String(o.stream)
		e.Uint(o.start.Generation)
		e.Uint(o.start.ID)
	}
	return e.B
}

// startsOf reads what encodeStarts has written, by stream. It is empty for a point without it.
func startsOf(p *storage.RecoveryPoint) (map[string]tuple.Position, error) {
	out := make(map[string]tuple.Position)
	b := part(p, startsState, startsVersion)
	if b == nil {
		return out, nil
	}
	d := tuple.NewDecoder(b)
	for range d.Count(3) {
		out[d.String()] = tuple.Position{Generation: d.Uint(), ID: d.Uint()}
	}
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("starts of outputs: %w: %w", storage.ErrDamaged, err)
	}
	return out, nil
}

// startOf is where the frames of an output begin: behind at, as the point has it, if the first of them is the GAP behind which
// a generation begins, else where they show it.
func startOf(s *storage.OutputState, held []dcaa.Held, at tuple.Position) tuple.Position {
	start := tuple.Position{Generation: s.Generation, ID: s.NextID - 1, Time: tuple.MinTime}
	if len(held) > 0 {
		first := held[0].Frame
		start.Generation, start.ID = first.Generation, before(first)
		if first.Kind == tuple.Gap && at.Generation != 0 && at.Generation < first.Generation {
			start.Generation, start.ID = at.Generation, at.ID
		}
	}
	return start
}
