package p2p

import (
	"bytes"
	"sync"

	"fednode/node/wire"
)

// encoder turns messages into bytes before they are queued, so that a message beyond the limits is the sender's error
// and not the end of the session.
type encoder struct {
	mu  sync.Mutex
	buf bytes.Buffer
	w   *wire.ControlWriter // onto buf
}

func newEncoder() (*encoder, error) {
	e := new(encoder)
	w, err := wire.NewControlWriter(&e.buf)
	e.w = w
	return e, err
}

// encode returns the frame of m, owned.
func (e *encoder) encode(m wire.Message) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buf.Reset()
	if err := e.w.Write(m); err != nil {
		return nil, err
	}
	return bytes.Clone(e.buf.Bytes()), nil
}
