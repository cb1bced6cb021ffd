package fragment

import (
	"fmt"
	"maps"
	"slices"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/storage"
)

// subscribersState names the part of a recovery point that holds who is counted at the outputs. Without it a subscriber
// that nobody expects, a fragment of another query, would have to come again before the first row is dropped.
const subscribersState = "subscribers"

// subscribersVersion is the version of that part.
const subscribersVersion = 1

// readers is what a recovery point holds of an output and of those who read it: who is counted, and what each has acknowledged; up
// to where frames have been dropped; and those that have not.
type readers struct {
	stream  string
	counted map[string]tuple.Position
	start   start
	held    []dcaa.Held
}

// readers returns those of each output.
func (r *Runner) readers() (list []readers) {
	for _, o := range r.outputs {
		e := o.Entries()
		list = append(list, readers{stream: o.Name(), counted: e.Acked, start: start{at: e.Start, lost: e.Lost}, held: e.Held})
	}
	return list
}

// part returns a part of a recovery point, nil if it has none of that name and version.
func part(p *storage.RecoveryPoint, name string, version uint64) []byte {
	for _, o := range p.Operators {
		if o.Name == name && o.Version == version {
			return o.Snapshot
		}
	}
	return nil
}

// encodeSubscribers writes who is counted at each output, and what each has acknowledged.
func encodeSubscribers(outputs []readers) []byte {
	var e tuple.Encoder
	e.Uint(uint64(len(outputs)))
	for _, o := range outputs {
		e.String(o.stream)
		e.Uint(uint64(len(o.counted)))
		for _, name := range slices.Sorted(maps.Keys(o.counted)) {
			p := o.counted[name]
			e.String(name)
			e.Uint(p.Generation)
			e.Time(p.Time)
			e.Uint(p.ID)
		}
	}
	return e.B
}

// subscribersOf reads what encodeSubscribers has written, by stream. A point without it counts nobody.
func subscribersOf(p *storage.RecoveryPoint) (map[string]map[string]tuple.Position, error) {
	out := make(map[string]map[string]tuple.Position)
	b := part(p, subscribersState, subscribersVersion)
	if b == nil {
		return out, nil
	}
	d := tuple.NewDecoder(b)
	for range d.Count(2) {
		stream, counted := d.String(), make(map[string]tuple.Position)
		for range d.Count(4) {
			counted[d.String()] = tuple.Position{Generation: d.Uint(), Time: d.Time(), ID: d.Uint()}
		}
		out[stream] = counted
	}
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("subscribers: %w: %w", storage.ErrDamaged, err)
	}
	return out, nil
}

// stillCounted leaves those subscribers of a recovery point that may come again.
func (r *Runner) stillCounted(stream string, acked map[string]tuple.Position) map[string]tuple.Position {
	if r.cfg.Counts == nil {
		return acked
	}
	maps.DeleteFunc(acked, func(name string, _ tuple.Position) bool { return !r.cfg.Counts(stream, name) })
	return acked
}
