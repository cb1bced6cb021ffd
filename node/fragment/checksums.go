package fragment

import (
	"fmt"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/sunion"
)

// checksumsState names the part of a recovery point that holds the checksums of the outputs. Without it they are known again
// only after three minutes of stime.
const checksumsState = "checksums"

// checksumsVersion is the version of that part.
const checksumsVersion = 1

// encodeChecksums writes the checksums of the outputs, in their order.
func encodeChecksums(list []sunion.ChecksumState) []byte {
	var e tuple.Encoder
	e.Uint(uint64(len(list)))
	for _, s := range list {
		e.Uint(s.Generation)
		e.Int(s.At)
		e.Uint(s.Sum)
		e.Uint(s.Before)
		e.Int(s.From)
	}
	return e.B
}

// checksumsOf reads what encodeChecksums has written. A point without it knows none.
func checksumsOf(p *storage.RecoveryPoint) ([]sunion.ChecksumState, error) {
	b := part(p, checksumsState, checksumsVersion)
	if b == nil {
		return nil, nil
	}
	d := tuple.NewDecoder(b)
	var list []sunion.ChecksumState
	for range d.Count(5) {
		list = append(list, sunion.ChecksumState{Generation: d.Uint(), At: d.Int(), Sum: d.Uint(), Before: d.Uint(), From: d.Int()})
	}
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("checksums: %w: %w", storage.ErrDamaged, err)
	}
	return list, nil
}

// Accept lets the fragment read again from a producer that has diverged. It does not block; Status shows when it is done.
func (r *Runner) Accept(producer string) {
	r.cfg.Log.Warn("a replica that gave other rows is read from again, as an operator wishes", zap.String("fragment", r.cfg.Name), zap.String("producer", producer))
	r.news.Accept(producer)
}

// Diverged logs that two replicas of a producer differ, which is a fault of one of them.
func (r *Runner) Diverged(input int, d dcaa.Divergence) {
	r.cfg.Log.Error("DIVERGED: replicas gave different rows", zap.String("fragment", r.cfg.Name),
		zap.String("stream", r.inputs[input].stream), zap.String("ignored", d.Producer), zap.String("kept", d.Other),
		zap.Uint64("generation", d.Generation), zap.Stringer("boundary", d.Boundary))
}
