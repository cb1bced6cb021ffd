package file

import (
	"hash/crc32"
	"io"

	"fednode/query/tuple"
)

// position is a place in a file: what a block's Pos holds.
type position struct {
	file    string
	offset  int64   // bytes of the file itself; 0 if it is compressed or not text
	imprint imprint // of what lies before offset
	state   []byte  // of the format's reader
}

// positionVersion is the first number of a position; one that is not known here is refused.
const positionVersion = 1

func (p *position) encode() []byte {
	var e tuple.Encoder
	e.Uint(positionVersion)
	e.String(p.file)
	e.Int(p.offset)
	e.Uint(uint64(p.imprint.size))
	e.Uint(uint64(p.imprint.sum))
	e.Bytes(p.state)
	return e.B
}

func decodePosition(b []byte) (*position, error) {
	d := tuple.NewDecoder(b)
	if v := d.Uint(); v != positionVersion {
		d.Fail("a position of version %d, this build reads %d", v, positionVersion)
	}
	p := &position{file: d.String(), offset: d.Int()}
	p.imprint = imprint{size: int(d.Uint() % (imprintSize + 1)), sum: uint32(d.Uint())}
	p.state = d.Bytes()
	if p.offset < int64(p.imprint.size) {
		d.Fail("offset %d", p.offset)
	}
	return p, d.Close()
}

// imprint identifies a file by what lies right before a place in it: a file of another content does not have it, and a
// copy or a renamed file does.
type imprint struct {
	size int
	sum  uint32
}

// imprintSize is how many bytes an imprint covers at most.
const imprintSize = 256

// imprintOf returns the imprint of what lies before offset.
func imprintOf(f io.ReaderAt, offset int64) (imprint, error) {
	n := min(offset, imprintSize)
	buf := make([]byte, n)
	if _, err := f.ReadAt(buf, offset-n); err != nil {
		return imprint{}, err
	}
	return imprint{size: int(n), sum: crc32.Checksum(buf, crc32.MakeTable(crc32.Castagnoli))}, nil
}

// matches reports whether a file has the imprint before offset.
func (p imprint) matches(f io.ReaderAt, offset int64) bool {
	got, err := imprintOf(f, offset)
	return err == nil && got == p
}
