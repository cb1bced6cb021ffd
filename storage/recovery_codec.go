package storage

import (
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"fednode/query/tuple"
)

// pointVersion is the format version of recovery points. Layout: docs/formats/recovery-point.md.
const pointVersion = 1

// MaxPointBytes is the largest recovery point, before compression.
const MaxPointBytes = 1 << 30

// manifest describes a stored point. Its presence is the commit marker of the chunks.
type manifest struct {
	Stored   int    // bytes in the chunks
	Checksum uint32 // CRC32C of these bytes
	Raw      int    // bytes before compression
	Epoch    uint64
	Boundary tuple.Time
}

func (m *manifest) encode() []byte {
	var e tuple.Encoder
	e.Uint(pointVersion)
	e.Uint(uint64(m.Stored))
	e.Uint(uint64(m.Checksum))
	e.Uint(uint64(m.Raw))
	e.Uint(m.Epoch)
	e.Time(m.Boundary)
	return seal(e.B)
}

func decodeManifest(v []byte) (manifest, error) {
	b, err := unseal(v)
	if err != nil {
		return manifest{}, err
	}
	d := tuple.NewDecoder(b)
	if n := d.Uint(); n != pointVersion && d.Err() == nil {
		return manifest{}, fmt.Errorf("recovery point of format version %d; this build reads %d", n, pointVersion)
	}
	stored, sum, raw := d.Uint(), d.Uint(), d.Uint()
	m := manifest{Stored: int(stored), Checksum: uint32(sum), Raw: int(raw), Epoch: d.Uint(), Boundary: d.Time()}
	if stored > 2*MaxPointBytes || raw > MaxPointBytes || sum > math.MaxUint32 {
		d.Fail("a point of %d bytes, %d before compression", stored, raw)
	}
	if err := d.Close(); err != nil {
		return manifest{}, fmt.Errorf("manifest: %w: %w", ErrDamaged, err)
	}
	return m, nil
}

// pointCodec compresses points. It may be used concurrently.
type pointCodec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newPointCodec() (*pointCodec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxPointBytes))
	if err != nil {
		return nil, err
	}
	return &pointCodec{enc: enc, dec: dec}, nil
}

func (c *pointCodec) encode(p *RecoveryPoint) (manifest, []byte, error) {
	var e tuple.Encoder
	encodePoint(&e, p)
	if len(e.B) > MaxPointBytes {
		return manifest{}, nil, fmt.Errorf("storage: recovery point of %q: %d bytes, at most %d are allowed: %w",
			p.Fragment, len(e.B), MaxPointBytes, ErrTooLarge)
	}
	data := c.enc.EncodeAll(e.B, nil)
	return manifest{Stored: len(data), Checksum: checksum(data), Raw: len(e.B), Epoch: p.Epoch, Boundary: p.Boundary}, data, nil
}

// decode judges what was read of a point: a pure function.
func (c *pointCodec) decode(fragment string, m manifest, data []byte) (*RecoveryPoint, error) {
	if checksum(data) != m.Checksum {
		return nil, fmt.Errorf("checksum does not match: %w", ErrDamaged)
	}
	raw, err := c.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(raw) != m.Raw {
		return nil, fmt.Errorf("%d bytes, the manifest says %d: %w", len(raw), m.Raw, ErrDamaged)
	}
	p, err := decodePoint(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if p.Fragment != fragment {
		return nil, fmt.Errorf("it is of fragment %q: %w", p.Fragment, ErrDamaged)
	}
	return p, nil
}

// Pack encodes a point to be sent elsewhere.
func (r *RecoveryPoints) Pack(p *RecoveryPoint) ([]byte, error) {
	m, data, err := r.codec.encode(p)
	if err != nil {
		return nil, err
	}
	var e tuple.Encoder
	e.Bytes(m.encode())
	e.Bytes(data)
	return e.B, nil
}

// Unpack reads what Pack has encoded, elsewhere. It fails with ErrDamaged for anything else, and for a point of another
// fragment.
func (r *RecoveryPoints) Unpack(fragment string, b []byte) (*RecoveryPoint, error) {
	d := tuple.NewDecoder(b)
	head, data := d.Bytes(), d.Bytes()
	if err := d.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	m, err := decodeManifest(head)
	if err != nil {
		return nil, err
	}
	return r.codec.decode(fragment, m, data)
}

func encodePoint(e *tuple.Encoder, p *RecoveryPoint) {
	e.Uint(pointVersion)
	e.String(p.Fragment)
	e.Uint(p.Epoch)
	e.Time(p.Boundary)
	e.Uint(uint64(len(p.Operators)))
	for i := range p.Operators {
		e.String(p.Operators[i].Name)
		e.Uint(p.Operators[i].Version)
		e.Bytes(p.Operators[i].Snapshot)
	}
	e.Uint(uint64(len(p.Inputs)))
	for i := range p.Inputs {
		e.String(p.Inputs[i].Stream)
		encodePosition(e, p.Inputs[i].Position)
	}
	e.Uint(uint64(len(p.Outputs)))
	for i := range p.Outputs {
		encodeOutput(e, &p.Outputs[i])
	}
}

func encodeOutput(e *tuple.Encoder, o *OutputState) {
	e.String(o.Stream)
	e.Uint(o.Generation)
	e.Uint(o.NextID)
	e.Time(o.Boundary)
	e.Uint(uint64(len(o.Unacked)))
	for i := range o.Unacked {
		u := &o.Unacked[i]
		e.Uint(u.FirstID)
		e.Uint(u.LastID)
		e.Bool(u.Frame != nil)
		if u.Frame != nil {
			e.Bytes(u.Frame)
			continue
		}
		e.String(u.Log.Log)
		e.Uint(u.Log.Generation)
		e.Uint(u.Log.Key)
	}
}

func decodePoint(b []byte) (*RecoveryPoint, error) {
	d := tuple.NewDecoder(b)
	if v := d.Uint(); v != pointVersion {
		d.Fail("format version %d", v)
	}
	p := &RecoveryPoint{Fragment: d.String(), Epoch: d.Uint(), Boundary: d.Time()}
	for range d.Count(3) {
		p.Operators = append(p.Operators, OperatorState{Name: d.String(), Version: d.Uint(), Snapshot: owned(d.Bytes())})
	}
	for range d.Count(4) {
		p.Inputs = append(p.Inputs, InputPosition{Stream: d.String(), Position: decodePosition(d)})
	}
	for range d.Count(5) {
		p.Outputs = append(p.Outputs, decodeOutput(d))
	}
	return p, d.Close()
}

func decodeOutput(d *tuple.Decoder) OutputState {
	o := OutputState{Stream: d.String(), Generation: d.Uint(), NextID: d.Uint(), Boundary: d.Time()}
	for range d.Count(4) {
		u := Unacked{FirstID: d.Uint(), LastID: d.Uint()}
		if u.LastID < u.FirstID {
			d.Fail("unacknowledged ids %d to %d", u.FirstID, u.LastID)
		}
		if d.Bool() {
			u.Frame = owned(d.Bytes())
		} else {
			u.Log = LogRef{Log: d.String(), Generation: d.Uint(), Key: d.Uint()}
		}
		o.Unacked = append(o.Unacked, u)
	}
	return o
}

// owned copies; the result is not nil, so that an empty frame stays a frame.
func owned(b []byte) []byte { return append([]byte{}, b...) }
