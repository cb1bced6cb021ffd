package wire

import (
	"fmt"
	"io"
	"slices"

	"github.com/fxamacker/cbor/v2"
)

// codec holds the CBOR modes: deterministic out, strict in.
type codec struct {
	enc cbor.EncMode
	dec cbor.DecMode
	// hello passes over fields that a newer peer may add: only then can versions be negotiated at all.
	hello cbor.DecMode
}

func newCodec() (codec, error) {
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return codec{}, fmt.Errorf("wire: cbor: %w", err)
	}
	opt := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MaxNestedLevels:  8,
		MaxArrayElements: 4096,
		MaxMapPairs:      32,
		UTF8:             cbor.UTF8RejectInvalid,
	}
	hello, err := opt.DecMode()
	if err != nil {
		return codec{}, fmt.Errorf("wire: cbor: %w", err)
	}
	opt.ExtraReturnErrors = cbor.ExtraDecErrorUnknownField
	dec, err := opt.DecMode()
	if err != nil {
		return codec{}, fmt.Errorf("wire: cbor: %w", err)
	}
	return codec{enc: enc, dec: dec, hello: hello}, nil
}

// ControlWriter sends control messages. It may be used for the Attach of a data stream too.
type ControlWriter struct {
	w       io.Writer
	version uint8
	codec   codec
}

// NewControlWriter returns a writer of version 1; SetVersion changes that after the hello.
func NewControlWriter(w io.Writer) (*ControlWriter, error) {
	c, err := newCodec()
	return &ControlWriter{w: w, version: helloVersion, codec: c}, err
}

// helloVersion is that of the hello's own frame, for ever: what it says decides about all that follow.
const helloVersion uint8 = 1

// SetVersion sets the version of the frames that follow.
func (w *ControlWriter) SetVersion(v uint8) { w.version = v }

// Write sends a message in one Write of the stream below. A message beyond the limits is refused here, not there.
func (w *ControlWriter) Write(m Message) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("wire: send %v: %w", m.Kind(), err)
	}
	body, err := w.codec.enc.Marshal(m)
	if err != nil {
		return fmt.Errorf("wire: send %v: %w", m.Kind(), err)
	}
	if len(body) > MaxControl {
		return fmt.Errorf("wire: send %v: %d bytes, at most %d are allowed", m.Kind(), len(body), MaxControl)
	}
	frame := append(make([]byte, headerSize, headerSize+len(body)), body...)
	seal(frame, w.version, uint8(m.Kind()))
	if _, err := w.w.Write(frame); err != nil {
		return fmt.Errorf("wire: send %v: %w", m.Kind(), err)
	}
	return nil
}

// ControlReader receives control messages. It never reads beyond the message it returns, so that a data stream can go on
// behind an Attach.
type ControlReader struct {
	env   envelope
	codec codec
	buf   []byte
	err   error
}

// NewControlReader returns a reader of version 1; SetVersion changes that after the hello.
func NewControlReader(r io.Reader) (*ControlReader, error) {
	c, err := newCodec()
	return &ControlReader{env: envelope{r: r, version: helloVersion, limit: controlLimit}, codec: c}, err
}

func controlLimit(kind uint8) (int, error) {
	if newMessage(Kind(kind)) == nil {
		return 0, broken(BadKind, "a frame of kind %d on a control stream", kind)
	}
	return MaxControl, nil
}

// SetVersion sets the version that frames must have from now on.
func (r *ControlReader) SetVersion(v uint8) { r.env.version = v }

// Read returns the next message, checked; its errors are those of Reader.ReadFrame, and as final.
func (r *ControlReader) Read() (Message, error) {
	if r.err != nil {
		return nil, r.err
	}
	m, err := r.read()
	if err != nil {
		r.err = err
		return nil, err
	}
	return m, nil
}

func (r *ControlReader) read() (Message, error) {
	h, err := r.env.next()
	if err != nil {
		return nil, err
	}
	if r.buf, err = r.env.payload(h, r.buf); err != nil {
		return nil, err
	}
	m := newMessage(Kind(h.kind))
	dec := r.codec.dec
	if m.Kind() == KindHello {
		dec = r.codec.hello
	}
	if err := dec.Unmarshal(r.buf[headerSize:], m); err != nil {
		return nil, broken(Malformed, "%v: %v", Kind(h.kind), err)
	}
	if err := m.check(); err != nil {
		return nil, broken(Malformed, "%v: %v", Kind(h.kind), err)
	}
	return m, nil
}

// Negotiate returns the newest version that both sides speak; ok is false if there is none.
func Negotiate(ours, theirs []uint8) (version uint8, ok bool) {
	for _, v := range ours {
		if slices.Contains(theirs, v) && (!ok || v > version) {
			version, ok = v, true
		}
	}
	return version, ok
}
