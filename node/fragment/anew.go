package fragment

import (
	"fmt"

	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/storage"
)

// anewState names the part of a recovery point that says what a best-effort query has lost and where it begins anew. Other
// queries have none.
const anewState = "anew"

// anewVersion is the version of that part.
const anewVersion = 1

// encodeAnew writes what has been lost on each path and kept back at each output, in their order.
func encodeAnew(s *replica.State) []byte {
	var e tuple.Encoder
	e.Uint(uint64(len(s.Anew)))
	for _, a := range s.Anew {
		e.Bool(a.Lost)
		e.Time(a.Need)
		e.Time(a.From)
		e.Time(a.To)
		e.String(a.Reason)
	}
	e.Uint(uint64(len(s.Silences)))
	for _, o := range s.Silences {
		e.Bool(o.On)
		e.Time(o.Told)
		e.Time(o.Begins)
	}
	return e.B
}

// anewOf reads what encodeAnew has written.
func anewOf(p *storage.RecoveryPoint, s *replica.State) error {
	b := part(p, anewState, anewVersion)
	if b == nil {
		return nil
	}
	d := tuple.NewDecoder(b)
	for range d.Count(5) {
		s.Anew = append(s.Anew, replica.AnewState{Lost: d.Bool(), Need: d.Time(), From: d.Time(), To: d.Time(), Reason: d.String()})
	}
	for range d.Count(3) {
		s.Silences = append(s.Silences, replica.SilenceState{On: d.Bool(), Told: d.Time(), Begins: d.Time()})
	}
	if err := d.Close(); err != nil {
		return fmt.Errorf("what best effort has lost: %w: %w", storage.ErrDamaged, err)
	}
	return nil
}
