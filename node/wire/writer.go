package wire

import (
	"errors"
	"fmt"
	"io"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"
)

// WriterOptions of NewWriter. The zero value is usable.
type WriterOptions struct {
	// Codec compresses the rows. It pays on slow links only.
	Codec stream.Codec
	// CutBytes is where batches are cut, in bytes before compression; 0 is the package's CutBytes.
	CutBytes int
	// Version is the one agreed on in the hello; 0 is the newest.
	Version uint8
	// Credit is asked before each data frame with the bytes of its payload. It may block until the receiver grants more;
	// an error ends the writer. Frames without rows never ask.
	Credit func(bytes int) error
}

// Writer sends the frames of one subscription.
type Writer struct {
	w     io.Writer
	opt   WriterOptions
	enc   *stream.Encoder
	head  tuple.Encoder // the frame being built, header included
	empty *tuple.Batch
	stats Stats
	err   error
}

// Stats are totals of a reader or writer since it was made.
type Stats struct {
	Frames    uint64
	Rows      uint64
	DataBytes uint64 // payloads of data frames: what credit counts
}

// NewWriter returns a writer for a stream of schema s.
func NewWriter(w io.Writer, s *tuple.Schema, opt WriterOptions) (*Writer, error) {
	if opt.CutBytes <= 0 || opt.CutBytes > CutBytes {
		opt.CutBytes = CutBytes
	}
	if opt.Version == 0 {
		opt.Version = Version
	}
	enc, err := stream.NewEncoder(s, opt.Codec)
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return &Writer{w: w, opt: opt, enc: enc, empty: tuple.NewBatchBuilder(s).Take()}, nil
}

// Stats returns what was sent.
func (w *Writer) Stats() Stats { return w.stats }

// WriteFrame sends f, a batch in as many frames as it needs, each in one Write. It keeps nothing of f. After an error the
// writer is of no use: the receiver may hold a part.
func (w *Writer) WriteFrame(f *tuple.Frame) error {
	if w.err == nil {
		w.err = w.write(f)
	}
	return w.err
}

func (w *Writer) write(f *tuple.Frame) error {
	switch f.Kind {
	case tuple.Insertion, tuple.Tentative:
		return w.writeRows(f)
	case tuple.Boundary, tuple.TentativeBoundary, tuple.Undo, tuple.RecDone, tuple.Gap:
		w.begin()
		appendHead(&w.head, f, 0)
		return w.send(f.Kind, 0)
	}
	return fmt.Errorf("wire: a frame of kind %v cannot be sent", f.Kind)
}

func (w *Writer) begin() { w.head.B = append(w.head.B[:0], make([]byte, headerSize)...) }

func (w *Writer) writeRows(f *tuple.Frame) error {
	b := f.Batch
	if b == nil {
		b = w.empty
	}
	if err := checkStretch(f, b.Rows()); err != nil {
		return err
	}
	if err := w.enc.Load(b); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	part := *f
	for done, first := 0, true; first || w.enc.Pending() > 0; first = false {
		n := w.enc.Fit(w.opt.CutBytes)
		cut(&part, f, done, n, w.enc.Pending() == n)
		if err := w.writePart(&part, n); err != nil {
			return err
		}
		done += n
	}
	return nil
}

// checkStretch refuses a frame that a receiver would: better here, where the fault is.
func checkStretch(f *tuple.Frame, rows int) error {
	if f.FirstID == 0 || f.LastID < f.FirstID {
		return fmt.Errorf("wire: ids from %d to %d", f.FirstID, f.LastID)
	}
	if f.IDs == nil && f.LastID-f.FirstID != uint64(rows)-1 || f.IDs != nil && len(f.IDs) != rows {
		return fmt.Errorf("wire: %d rows and %d listed ids for ids %d to %d", rows, len(f.IDs), f.FirstID, f.LastID)
	}
	next := f.FirstID
	for i, id := range f.IDs {
		if id < next || id > f.LastID {
			return fmt.Errorf("wire: id %d of row %d, ids rise from %d to %d", id, i, f.FirstID, f.LastID)
		}
		next = id + 1
	}
	return nil
}

// cut makes part the stretch of whole that rows [done, done+n) stand for. Every id of whole falls to exactly one part: ids
// that no row has go with the row before them, those in front of the first row with the first part.
func cut(part, whole *tuple.Frame, done, n int, last bool) {
	if done > 0 {
		part.FirstID = part.LastID + 1
	}
	switch {
	case last:
		part.LastID = whole.LastID
	case whole.IDs != nil:
		part.LastID = whole.IDs[done+n] - 1
	default:
		part.LastID = part.FirstID + uint64(n) - 1
	}
	if whole.IDs != nil {
		part.IDs = whole.IDs[done : done+n]
	}
}

// writePart sends the next n loaded rows as one frame.
func (w *Writer) writePart(part *tuple.Frame, n int) (err error) {
	w.begin()
	appendHead(&w.head, part, n)
	for len(w.head.B)%8 != 0 {
		w.head.B = append(w.head.B, 0)
	}
	if w.head.B, err = w.enc.Append(w.head.B, n); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	size := len(w.head.B) - headerSize
	if size > MaxFrame {
		return errors.Join(stream.ErrRowTooLarge, fmt.Errorf("wire: a frame of %d bytes", size))
	}
	if w.opt.Credit != nil {
		if err := w.opt.Credit(size); err != nil {
			return fmt.Errorf("wire: wait for credit: %w", err)
		}
	}
	w.stats.DataBytes += uint64(size)
	return w.send(part.Kind, n)
}

func (w *Writer) send(kind tuple.FrameKind, rows int) error {
	seal(w.head.B, w.opt.Version, uint8(kind))
	if _, err := w.w.Write(w.head.B); err != nil {
		return fmt.Errorf("wire: write: %w", err)
	}
	w.stats.Frames++
	w.stats.Rows += uint64(rows)
	return nil
}
