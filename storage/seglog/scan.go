package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"fednode/storage/disk"
)

// Damage is a stretch of a segment that does not hold what was written there. The records in it are lost; what follows
// is not. It is an error of class disk.ErrDamaged.
type Damage struct {
	Path   string
	Offset int64
	Bytes  int64
	// Records is how many are lost, exactly.
	Records uint64
	// After and Before bound the keys of the lost records, both included: the position of the last record before them and
	// of the first one after. Before is zero when nothing follows yet.
	After  Position
	Before Position
}

// Error says what is lost and where.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s: %d damaged bytes at offset %d of %q: %d records lost after key %v%s",
		disk.ErrDamaged, d.Bytes, d.Offset, d.Path, d.Records, d.After, beforeText(d.Before))
}

func beforeText(p Position) string {
	if p == (Position{}) {
		return ""
	}
	return fmt.Sprintf(", up to key %v", p)
}

// Unwrap gives the class.
func (d *Damage) Unwrap() error { return disk.ErrDamaged }

// window reads a file through one growing buffer.
type window struct {
	f   io.ReaderAt
	buf []byte
	off int64 // of buf[0] in the file
}

const windowBytes = 256 << 10

// view returns the bytes [off, off+n), fewer if limit comes first. They are valid until the next call.
func (w *window) view(off int64, n int, limit int64) ([]byte, error) {
	n = int(min(int64(n), limit-off))
	if n <= 0 {
		return nil, nil
	}
	if off >= w.off && off+int64(n) <= w.off+int64(len(w.buf)) {
		return w.buf[off-w.off:][:n], nil
	}
	want := int(min(int64(max(n, windowBytes)), limit-off))
	if cap(w.buf) < want {
		w.buf = make([]byte, want)
	}
	w.buf, w.off = w.buf[:want], off
	got, err := w.f.ReadAt(w.buf, off)
	if got < want && (err == nil || errors.Is(err, io.EOF)) {
		w.buf = w.buf[:got]
		return w.buf[:min(n, got)], nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.buf = w.buf[:0]
		return nil, err
	}
	return w.buf[:n], nil
}

// cursor walks the records of one segment, from off to end. After damage it finds the next true record by itself.
type cursor struct {
	window
	seed uint32
	off  int64
	end  int64
	seq  uint64 // of the last record
	key  uint64
	// filled is where zeros begin that reach to the end, 0 if that is not known: no record begins there.
	filled int64
}

// step reads the record at off. ok is false at the end and where no valid record is; skipped is then how it stands.
func (c *cursor) step() (f frame, payload []byte, ok bool, err error) {
	f, payload, ok, err = c.at(c.off, c.seq, c.key)
	if ok && !c.follows(f) {
		ok = false
	}
	if ok {
		c.off += f.bytes()
		c.seq, c.key = f.seq, f.key
	}
	return f, payload, ok, err
}

// follows: without damage seqs are consecutive, and a mark repeats the last one.
func (c *cursor) follows(f frame) bool {
	if f.mark {
		return f.seq == c.seq
	}
	return f.seq == c.seq+1
}

// head reads the fixed part of the record at off. ok says that it is a true one, after seq and key, that ends before the
// end.
func (c *cursor) head(off int64, seq, key uint64) (f frame, ok bool, err error) {
	b, err := c.view(off, recordHeader, c.end)
	if err != nil || len(b) < recordHeader {
		return f, false, err
	}
	if f, ok = parseFrame(b, c.seed); !ok {
		return f, false, nil
	}
	ok = f.size <= MaxPayloadBytes && f.bytes() <= c.end-off && f.seq >= seq && f.key >= key && f.durable <= f.seq
	return f, ok, nil
}

// at reads the record at off if there is a true one after seq and key.
func (c *cursor) at(off int64, seq, key uint64) (f frame, payload []byte, ok bool, err error) {
	f, ok, err = c.head(off, seq, key)
	if err != nil || !ok {
		return f, nil, false, err
	}
	whole, err := c.view(off, recordHeader+f.size, c.end)
	if err != nil || len(whole) < recordHeader+f.size || !validPayload(whole, c.seed) {
		return f, nil, false, err
	}
	return f, whole[recordHeader:], true, nil
}

// resync looks for the next true record after off and moves there. Without one it moves to the end. Seqs and keys
// rise, and checksums are seeded with the log's id, so bytes inside a payload do not pass for a record.
func (c *cursor) resync() (next frame, found bool, err error) {
	off := c.off + align
	f, ok, err := c.head(c.off, c.seq, c.key)
	if err != nil {
		return next, false, err
	}
	if ok {
		off = c.off + f.bytes() // only the payload is damaged
	}
	last := c.end - recordHeader
	if c.filled > 0 {
		last = min(last, c.filled)
	}
	for ; off <= last; off += align {
		f, _, ok, err := c.at(off, c.seq, c.key)
		if err != nil {
			return f, false, err
		}
		if ok && f.before() >= c.seq {
			c.off = off
			c.seq = f.before()
			return f, true, nil
		}
	}
	c.off = c.end
	return next, false, nil
}

// lastNonZero returns the offset after the last byte in [off, end) that is not zero, or off.
func (c *cursor) lastNonZero() (int64, error) {
	last := c.off
	zeros := make([]byte, windowBytes)
	for off := c.off; off < c.end; {
		b, err := c.view(off, windowBytes, c.end)
		if err != nil {
			return last, err
		}
		if len(b) == 0 {
			break
		}
		if !bytes.Equal(b, zeros[:len(b)]) { // the reserved rest of a segment is large and almost always zero
			last = off + int64(len(bytes.TrimRight(b, "\x00")))
		}
		off += int64(len(b))
	}
	return last, nil
}
