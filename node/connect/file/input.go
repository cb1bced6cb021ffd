package file

import (
	"fmt"
	"io"
	"os"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

// input is one open file with the reader of its records.
type input struct {
	name   string
	file   *os.File // nil: standard input
	plain  bool     // not compressed, and text: a place in the records is a place in the file
	in     format.Reader
	zip    io.Closer // of the decompressor
	seen   int64     // size of the file when it was last compared with what was read
	closed bool
}

// openInput opens a file at its beginning, or at a position.
func openInput(s *connect.Stream, o format.Options, name string, at *position) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	i := &input{name: name, file: f}
	if err := i.begin(s, o, at); err != nil {
		return nil, closeAfter(f, err)
	}
	return i, nil
}

func closeAfter(c io.Closer, err error) error {
	c.Close()
	return err
}

func (i *input) begin(s *connect.Stream, o format.Options, at *position) error {
	info, err := i.file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory", i.name)
	}
	var src io.Reader = i.file
	if info.Mode().IsRegular() {
		if err := format.CheckName(i.name, i.file); err != nil {
			return err
		}
	}
	if !info.Mode().IsRegular() || format.IsCompressed(i.file) {
		z, c, err := format.Decompress(i.file)
		if err != nil {
			return err
		}
		src, i.zip = z, z
		if c == format.Plain {
			src = onlyReader{z}
		}
	} else {
		i.plain = o.Text()
	}
	return i.start(s, o, src, at)
}

// onlyReader hides that a reader can do more.
type onlyReader struct{ io.Reader }

func (i *input) start(s *connect.Stream, o format.Options, src io.Reader, at *position) (err error) {
	if i.in, err = format.NewReader(s, o, src); err != nil {
		return fmt.Errorf("%s: %w", i.name, err)
	}
	if at == nil || len(at.state) == 0 {
		return nil
	}
	d := tuple.NewDecoder(at.state)
	skip := i.in.Restore(d)
	if err := d.Close(); err != nil {
		return fmt.Errorf("%s: the position is damaged: %w", i.name, err)
	}
	if i.plain {
		_, err = i.file.Seek(skip, io.SeekStart)
	} else if _, err = io.CopyN(io.Discard, src, skip); err == io.EOF {
		err = &format.InputError{End: connect.EndTruncated, Err: fmt.Errorf("it is shorter than what had been read, %d bytes", skip), Offset: -1}
	}
	return err
}

// position returns the place after the last record read.
func (i *input) position() *position {
	var e tuple.Encoder
	i.in.Save(&e)
	p := &position{file: i.name, state: e.B}
	if i.plain {
		p.offset = tuple.NewDecoder(e.B).Int()     // a text reader's state begins with its place
		p.imprint, _ = imprintOf(i.file, p.offset) // if the file has shrunk the imprint is none, which nothing matches
	}
	return p
}

// readTo returns how far the file itself has been read, which may be beyond the last record.
func (i *input) readTo() int64 {
	n, err := i.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return n
}

// fate says what has become of the file by the time its end has been read.
func (i *input) fate() (connect.End, string) {
	if i.file == nil {
		return connect.EndEOF, ""
	}
	mine, err := i.file.Stat()
	if err != nil || !mine.Mode().IsRegular() {
		return connect.EndEOF, ""
	}
	if i.plain && mine.Size() < i.position().offset {
		return connect.EndTruncated, i.name + " shrank while it was read"
	}
	now, err := os.Stat(i.name)
	switch {
	case os.IsNotExist(err):
		return connect.EndVanished, i.name + " was deleted while it was read; what it held was read"
	case err == nil && !os.SameFile(mine, now):
		return connect.EndReplaced, i.name + " was replaced while it was read; the file that was opened was read"
	}
	return connect.EndEOF, ""
}

func (i *input) close() {
	if i == nil || i.closed {
		return
	}
	i.closed = true
	if i.zip != nil {
		i.zip.Close()
	}
	if i.file != nil {
		i.file.Close()
	}
}
