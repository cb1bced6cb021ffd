package wire

import (
	"bufio"
	"fmt"
	"io"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"
)

// Demand is what a frame asks of the receiver, known before its rows are decoded.
type Demand struct {
	Bytes int // of payload
	Rows  int
	// Data is true for INSERTION and TENTATIVE frames, whose payloads count against the credit given.
	Data bool
}

// Budget decides whether a frame is decoded. Its error ends the connection with OverQuota; it may also block, which
// holds the sender back.
type Budget func(Demand) error

// ReaderOptions of NewReader. The zero value is usable.
type ReaderOptions struct {
	// Schema is what the stream must have; nil takes what comes first.
	Schema *tuple.Schema
	// Version is the one agreed on in the hello; 0 is the newest.
	Version uint8
	// Budget is asked for every frame; nil grants everything.
	Budget Budget
}

// readAhead is small on purpose: it gathers small frames, while what of a big payload passes through it is copied twice.
const readAhead = 4 << 10

// Reader receives the frames of one subscription.
type Reader struct {
	env    envelope
	budget Budget
	dec    *stream.Decoder
	order  order
	small  []byte // payloads without rows, reused
	stats  Stats
	err    error
}

// NewReader returns a reader of r, from which it may read ahead.
func NewReader(r io.Reader, opt ReaderOptions) (*Reader, error) {
	if opt.Version == 0 {
		opt.Version = Version
	}
	dec, err := stream.NewDecoder(opt.Schema)
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	env := envelope{r: bufio.NewReaderSize(r, readAhead), version: opt.Version, limit: dataLimit}
	return &Reader{env: env, budget: opt.Budget, dec: dec, order: newOrder()}, nil
}

// Stats returns what was received.
func (r *Reader) Stats() Stats { return r.stats }

// Schema returns the schema of the stream, or nil before the first data frame where none was asked for.
func (r *Reader) Schema() *tuple.Schema { return r.dec.Schema() }

// ReadFrame returns the next frame, owned; io.EOF when the stream ended between frames; a *ProtocolError for what a
// correct peer never sends; else the error of the connection. Every error is final.
func (r *Reader) ReadFrame() (*tuple.Frame, error) {
	if r.err != nil {
		return nil, r.err
	}
	f, err := r.read()
	if err != nil {
		r.err = err
		return nil, err
	}
	return f, nil
}

func (r *Reader) read() (*tuple.Frame, error) {
	h, err := r.env.next()
	if err != nil {
		return nil, err
	}
	f := &tuple.Frame{Kind: tuple.FrameKind(h.kind)}
	if f.Kind != tuple.Insertion && f.Kind != tuple.Tentative {
		return f, r.readPlain(h, f)
	}
	return f, r.readRows(h, f)
}

func (r *Reader) readPlain(h header, f *tuple.Frame) (err error) {
	if r.small, err = r.env.payload(h, r.small); err != nil {
		return err
	}
	d := tuple.NewDecoder(r.small[headerSize:])
	if _, err := readHead(d, f); err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return &ProtocolError{Code: Malformed, Reason: err.Error()}
	}
	if err := r.charge(Demand{Bytes: h.length}); err != nil {
		return err
	}
	r.stats.Frames++
	return r.order.frame(f)
}

func (r *Reader) readRows(h header, f *tuple.Frame) error {
	frame, err := r.env.payload(h, nil)
	if err != nil {
		return err
	}
	d := tuple.NewDecoder(frame[headerSize:])
	rows, err := readHead(d, f)
	if err != nil {
		return err
	}
	if err := r.order.frame(f); err != nil {
		return err
	}
	if err := r.charge(Demand{Bytes: h.length, Rows: rows, Data: true}); err != nil {
		return err
	}
	ipc, err := afterPadding(frame, len(frame)-d.Remaining())
	if err != nil {
		return err
	}
	if f.Batch, err = r.dec.Decode(ipc, rows); err != nil {
		return fromStream(err)
	}
	r.stats.Frames++
	r.stats.Rows += uint64(rows)
	r.stats.DataBytes += uint64(h.length)
	return r.order.rows(f)
}

// afterPadding returns what follows the zeros that align it to eight bytes within the frame.
func afterPadding(frame []byte, at int) ([]byte, error) {
	for ; at%8 != 0 && at < len(frame); at++ {
		if frame[at] != 0 {
			return nil, broken(Malformed, "padding that is not zero")
		}
	}
	return frame[at:], nil
}

func (r *Reader) charge(d Demand) error {
	if r.budget == nil {
		return nil
	}
	if err := r.budget(d); err != nil {
		return &ProtocolError{Code: OverQuota, Reason: err.Error(), Err: err}
	}
	return nil
}
