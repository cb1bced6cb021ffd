package format

import (
	"bytes"
	"fmt"
	"io"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// decoder reads records that lie in memory as text.
type decoder interface {
	// decode appends the records of data to rows until rows is full or data holds no complete record more; with last,
	// nothing follows data, and its rest is a record. It returns how far it got. at is the place of data's first byte.
	decode(data []byte, at cursor, last bool, rows *Rows) (cursor, error)
	// passing is shown the parts of a record that is too large to be decoded, in order.
	passing(part []byte)
	save(e *tuple.Encoder)
	restore(d *tuple.Decoder)
	notice() string
}

// cursor is a place in a text: the byte from its beginning, and the line from 1.
type cursor struct{ offset, line int64 }

// firstRead and fullRead are the sizes of the buffer in bytes: small for bodies of a few rows and followed files, larger
// once an input turns out to be long.
const (
	firstRead = 16 << 10
	fullRead  = 256 << 10
)

// lines feeds a decoder from an input, in pieces of whole records. What is larger than a record may be is passed over
// without being held.
type lines struct {
	src    io.Reader
	dec    decoder
	maxRow int

	buf    []byte
	lo, hi int // unread bytes of buf
	at     cursor
	eof    bool // src has returned io.EOF; it may have more later
	err    error
	began  bool // a byte order mark has been looked for

	over     []byte // the beginning of the oversized record that is being passed over
	overSize int64
}

func newLines(src io.Reader, o *Options, d decoder) *lines {
	return &lines{src: src, dec: d, maxRow: o.MaxRow, at: cursor{line: 1}}
}

func (l *lines) Notice() string { return l.dec.notice() }

func (l *lines) Save(e *tuple.Encoder) {
	e.Int(l.at.offset)
	e.Int(l.at.line)
	l.dec.save(e)
}

func (l *lines) Restore(d *tuple.Decoder) int64 {
	l.at = cursor{d.Int(), d.Int()}
	if l.at.offset < 0 || l.at.line < 1 {
		d.Fail("a place before the beginning")
	}
	l.dec.restore(d)
	l.began = l.at.offset > 0
	return l.at.offset
}

func (l *lines) Read(rows *Rows, last bool) error {
	for !rows.Full() {
		if l.over != nil {
			if done := l.passOver(rows, last && l.eof); !done {
				if err := l.fill(); err != nil && !(err == io.EOF && last) {
					return l.end(rows, err)
				}
				continue
			}
		}
		if l.lo < l.hi && l.start(last) {
			ended := last && l.eof
			to, err := l.dec.decode(l.buf[l.lo:l.hi], l.at, ended, rows)
			took := int(to.offset - l.at.offset)
			l.lo += took
			l.at = to
			rows.size += took
			if err != nil {
				return err
			}
			if rows.Full() {
				return nil
			}
			if l.hi-l.lo > l.maxRow+len("\r\n") {
				l.over = append([]byte{}, l.buf[l.lo:min(l.hi, l.lo+connect.MaxRaw)]...)
				continue
			}
		}
		if err := l.fill(); err != nil {
			if err == io.EOF && last && l.lo < l.hi && l.err == nil {
				continue // decode the rest, knowing that it is the rest
			}
			return l.end(rows, err)
		}
	}
	return nil
}

// start passes over a byte order mark; false: too little is there to tell.
func (l *lines) start(last bool) bool {
	if l.began {
		return true
	}
	const mark = "\xEF\xBB\xBF"
	head := l.buf[l.lo:min(l.hi, l.lo+len(mark))]
	if len(head) < len(mark) && string(head) == mark[:len(head)] && !(last && l.eof) {
		return false
	}
	if string(head) == mark {
		l.lo += len(mark)
		l.at.offset += int64(len(mark))
	}
	l.began = true
	return true
}

// fill reads more of the input behind what is unread.
func (l *lines) fill() error {
	if l.err != nil {
		return l.err
	}
	if l.lo > 0 && l.lo == l.hi {
		l.lo, l.hi = 0, 0
	}
	if l.hi == len(l.buf) {
		l.makeRoom()
	}
	n, err := l.src.Read(l.buf[l.hi:])
	l.hi += n
	if n > 0 {
		l.eof = false
		if err != nil && err != io.EOF {
			l.err = err
		}
		return nil
	}
	switch err {
	case nil:
		return nil
	case io.EOF:
		l.eof = true
		return io.EOF
	}
	l.err = err
	return err
}

func (l *lines) makeRoom() {
	unread := l.hi - l.lo
	size := len(l.buf)
	switch {
	case size == 0:
		size = firstRead
	case unread > size/2:
		size *= 2
	case size < fullRead:
		size = min(4*size, fullRead)
	}
	if size == len(l.buf) {
		copy(l.buf, l.buf[l.lo:l.hi])
	} else {
		grown := make([]byte, size)
		copy(grown, l.buf[l.lo:l.hi])
		l.buf = grown
	}
	l.lo, l.hi = 0, unread
}

// end gives up for now, or for good if the input is damaged: then the record it stopped in is set aside.
func (l *lines) end(rows *Rows, err error) error {
	if err == io.EOF {
		return io.EOF
	}
	if l.lo < l.hi || l.over != nil {
		raw := l.buf[l.lo:l.hi]
		if nl := bytes.LastIndexByte(raw, '\n'); nl >= 0 {
			raw = raw[nl+1:]
		}
		size := l.overSize + int64(len(raw))
		if l.over != nil {
			raw = l.over
		}
		rows.reject(record{l.at.line, l.at.offset, raw, size}, connect.Cut, -1, "the input ends within the record: "+err.Error())
		l.lo, l.hi, l.over, l.overSize = 0, 0, nil, 0
	}
	return err
}

// passOver drops the bytes of an oversized record up to its line end, and then sets it aside. It reports whether that
// is done.
func (l *lines) passOver(rows *Rows, ended bool) bool {
	data := l.buf[l.lo:l.hi]
	nl := bytes.IndexByte(data, '\n')
	if nl < 0 && !ended {
		l.dec.passing(data)
		l.overSize += int64(len(data))
		l.lo = l.hi
		return false
	}
	size, lineEnd := l.overSize+int64(len(data)), int64(0)
	if nl >= 0 {
		size, lineEnd = l.overSize+int64(nl), 1
	}
	l.dec.passing(data[:size-l.overSize])
	rows.reject(record{l.at.line, l.at.offset, l.over, size}, connect.TooLarge, -1,
		fmt.Sprintf("the record has %d bytes, max_row allows %d", size, l.maxRow))
	l.lo += int(size - l.overSize + lineEnd)
	l.at.offset += size + lineEnd
	l.at.line += lineEnd
	l.over, l.overSize = nil, 0
	return true
}
