package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"fednode/node/connect"
	"fednode/node/connect/format"
)

// boundedReader reads files one after the other to their ends.
type boundedReader struct {
	stream *connect.Stream
	opts   format.Options
	rows   *format.Rows
	files  []string // still to open
	resume *position
	cur    *input
	stdin  io.Reader // instead of files
	last   *position // where the last block ended, once no file is open
	status connect.Status
	faults int
	failed error // what Next returns from now on
}

func newBounded(s *connect.Stream, o format.Options, env *connect.Env, files []string, pos []byte) (*boundedReader, error) {
	r := &boundedReader{stream: s, opts: o, rows: format.NewRows(s, env.Rows(), &o), files: files, status: connect.Status{State: connect.Ended, End: connect.EndEOF}}
	if pos == nil {
		return r, nil
	}
	at, err := decodePosition(pos)
	if err != nil {
		return nil, fmt.Errorf("file: position: %w", err)
	}
	// Files are in order, so those after the position's are what is left, even if that one is gone.
	n, found := slices.BinarySearch(files, at.file)
	r.files, r.last = files[n:], at
	if found {
		r.resume = at
	} else {
		r.fault(connect.EndVanished, at.file+" is gone since it was read in part")
	}
	return r, nil
}

// fault notes what is wrong with a file; the first is told in full.
func (r *boundedReader) fault(end connect.End, detail string) {
	if r.faults++; r.faults == 1 {
		r.status.End, r.status.Detail = end, detail
	}
}

// Next returns the next block.
func (r *boundedReader) Next(ctx context.Context) (*connect.Block, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.failed != nil {
			return nil, r.failed
		}
		if r.cur == nil {
			if len(r.files) == 0 && r.stdin == nil {
				return r.end(), nil
			}
			r.failed = r.open()
			continue
		}
		err := r.cur.in.Read(r.rows, true)
		b := r.block()
		if err != nil {
			r.failed = r.endFile(err)
		}
		if b != nil {
			return b, nil
		}
	}
}

// block takes what has been read, nil if that is nothing. Blank lines fill a block too: it is taken, so that reading goes
// on, and only tells the position.
func (r *boundedReader) block() *connect.Block {
	if r.rows.Len() == 0 && r.rows.Rejected() == 0 && !r.rows.Full() {
		return nil
	}
	b := r.rows.Take()
	r.last = r.cur.position()
	b.Pos = r.last.encode()
	return b
}

func (r *boundedReader) open() (err error) {
	if r.stdin != nil {
		return r.openStdin()
	}
	name, at := r.files[0], r.resume
	r.files, r.resume = r.files[1:], nil
	r.rows.SetFile(name)
	r.cur, err = openInput(r.stream, r.opts, name, at)
	var broken *format.InputError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.fault(connect.EndVanished, name+" does not exist")
		if at == nil && r.last == nil && len(r.files) == 0 {
			return fmt.Errorf("file: %w", err)
		}
		return nil
	case errors.As(err, &broken):
		r.fault(broken.End, fmt.Sprintf("%s: %v", broken.At(name), broken))
		return nil
	case err != nil:
		return fmt.Errorf("file: %w", err)
	}
	if at != nil && r.cur.plain && !at.imprint.matches(r.cur.file, at.offset) {
		r.cur.close()
		r.cur = nil
		r.fault(connect.EndReplaced, name+" is not the file any more that was read in part")
	}
	return nil
}

func (r *boundedReader) openStdin() error {
	r.rows.SetFile("-")
	src, _, err := format.Decompress(r.stdin)
	r.stdin = nil
	if err != nil {
		return r.endFile(err)
	}
	r.cur = &input{name: "-", zip: src}
	return r.cur.start(r.stream, r.opts, onlyReader{src}, nil)
}

// endFile closes the file whose reading stopped with err; an error that is not the file's own comes back.
func (r *boundedReader) endFile(err error) error {
	cur := r.cur
	r.cur = nil
	defer cur.close()
	var broken *format.InputError
	switch {
	case err == io.EOF:
		if note := cur.in.Notice(); note != "" && r.status.Detail == "" {
			r.status.Detail = note
		}
		if end, detail := cur.fate(); end != connect.EndEOF {
			r.fault(end, detail)
		}
	case errors.As(err, &broken):
		name := "-"
		if cur != nil {
			name = cur.name
		}
		r.fault(broken.End, fmt.Sprintf("%s: %v", broken.At(name), broken))
	default:
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

func (r *boundedReader) end() *connect.Block {
	r.failed = io.EOF
	if r.faults > 1 {
		r.status.Detail += fmt.Sprintf(" (and %d more files were not whole)", r.faults-1)
	}
	b := &connect.Block{Status: r.status}
	if r.last != nil {
		b.Pos = r.last.encode()
	}
	return b
}

// Close closes what is open.
func (r *boundedReader) Close() error {
	r.cur.close()
	r.cur, r.failed = nil, io.EOF
	return nil
}
