package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

// fileSink writes rows into a file: a bounded result into target.part, which becomes target at Finish, a live one into
// target itself, which is created with the first row or at the end of the stream: an output that is silent leaves no file.
type fileSink struct {
	sinkConfig
	target string
	name   string // what is written

	file   *os.File // nil until it is created
	length int64    // bytes that have reached the file
	out    *chain
	done   bool
	// committed: somebody may hold a state to go on from.
	committed bool
}

// chain is the way of rows into the file: format, compression, buffer. With compression each commit ends a stream, and
// the next rows begin another: what is committed can be read by itself, and cut after.
type chain struct {
	rows format.Writer
	zip  io.WriteCloser
	buf  *bufio.Writer
}

// Recover begins at nothing or at what was committed.
func (s *fileSink) Recover(_ context.Context, state []byte) (pos tuple.Position, err error) {
	st := &sinkState{}
	if state != nil {
		st, err = decodeState(state)
	}
	switch {
	case err != nil:
	case state == nil && s.stream.Bounded:
		// The header is written at once, so that even a result without rows has one.
		if err = s.check(); err == nil {
			err = s.create()
		}
	case st.length == 0 && !s.stream.Bounded:
		err = s.check()
	default:
		s.committed = true
		err = s.reopen(st)
	}
	if err != nil {
		return tuple.Position{}, fmt.Errorf("file: sink %s: %w", s.name, err)
	}
	return st.pos, nil
}

// begun reports whether the file is there.
func (s *fileSink) begun() bool { return s.file != nil }

// check finds out what would keep the file from being created, as far as that can be told before.
func (s *fileSink) check() error {
	if format.IsDirectory(s.target) {
		return errors.New("the path is a directory; name a file")
	}
	dir := filepath.Dir(s.target)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s; create it, or name a file elsewhere", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory; name a file elsewhere", dir)
	}
	if _, err := os.Stat(s.name); err == nil {
		return nil // a device, or an empty file: opening it needs no right to the directory
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("no file can be created in %s: %w; let this user write there, or name a file elsewhere", dir, err)
	}
	return nil
}

// create begins a new file. What a live sink finds there is not its own and is kept under another name; or it is the
// rest of a start that ended before its first commit, and keeping it harms nobody.
func (s *fileSink) create() (err error) {
	if !s.stream.Bounded {
		if err := keepOld(s.target); err != nil {
			return err
		}
	}
	if s.file, err = os.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return err
	}
	s.length = 0
	return s.begin(false)
}

func keepOld(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (info.Size() == 0 || !info.Mode().IsRegular()) {
		return nil
	}
	if err != nil {
		return err
	}
	for n := 1; n < 10_000; n++ {
		old := fmt.Sprintf("%s.old-%d", path, n)
		if _, err := os.Lstat(old); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(path, old)
		}
	}
	return errors.New("there are 10,000 older files of this name; move them away")
}

// reopen cuts the file to what was committed.
func (s *fileSink) reopen(st *sinkState) (err error) {
	if s.file, err = os.OpenFile(s.name, os.O_RDWR, 0o644); err != nil {
		return fmt.Errorf("what was committed is gone: %w; put it back, or start the output anew under another path", err)
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < st.length || !st.imprint.matches(s.file, st.length) {
		return errors.New("the file is not what was committed: something else has changed it; put it back, or start the output anew under another path")
	}
	if err := s.file.Truncate(st.length); err != nil {
		return err
	}
	if _, err := s.file.Seek(st.length, io.SeekStart); err != nil {
		return err
	}
	s.length = st.length
	return nil
}

// begin opens the way for rows.
func (s *fileSink) begin(resume bool) (err error) {
	c := &chain{buf: bufio.NewWriterSize(s.file, 256<<10)}
	if c.zip, err = format.Compress(c.buf, format.CompressionOf(s.target)); err != nil {
		return err
	}
	if c.rows, err = format.NewWriter(c.zip, s.stream.Schema, s.format, resume); err != nil {
		return err
	}
	s.out = c
	return nil
}

// Write takes rows.
func (s *fileSink) Write(_ context.Context, rows connect.SinkRows) error {
	if rows.Batch.Rows() == 0 {
		return nil
	}
	if err := s.write(rows.Batch); err != nil {
		return fmt.Errorf("file: sink %s: %w", s.name, err)
	}
	return nil
}

func (s *fileSink) write(b *tuple.Batch) (err error) {
	switch {
	case s.file == nil:
		err = s.create()
	case s.out == nil:
		err = s.begin(true)
	}
	if err != nil {
		return err
	}
	return s.out.rows.Write(b)
}

// Commit makes what was written durable. An Arrow file is whole only at its end, so it has no state: after a crash it is
// written from the beginning.
func (s *fileSink) Commit(_ context.Context, pos tuple.Position) ([]byte, error) {
	if s.format.Format == format.Arrow {
		return nil, nil
	}
	if err := s.end(pos); err != nil {
		return nil, fmt.Errorf("file: sink %s: commit: %w", s.name, err)
	}
	if err := s.flush(); err != nil {
		return nil, fmt.Errorf("file: sink %s: commit: %w", s.name, err)
	}
	s.committed = true
	st := &sinkState{length: s.length, pos: pos}
	if s.file == nil {
		return st.encode(), nil
	}
	var err error
	if st.imprint, err = imprintOf(s.file, s.length); err != nil {
		return nil, fmt.Errorf("file: sink %s: commit: %w", s.name, err)
	}
	return st.encode(), nil
}

// end creates the file of a stream that has ended without a row: nothing is what was found, and not what is still to come.
func (s *fileSink) end(pos tuple.Position) error {
	if s.file != nil || pos.Time != tuple.MaxTime {
		return nil
	}
	return s.create()
}

// flush brings everything into the file and the file onto the disk.
func (s *fileSink) flush() error {
	if s.file == nil {
		return nil
	}
	if s.out != nil {
		err := errors.Join(s.out.rows.Close(), s.out.zip.Close(), s.out.buf.Flush())
		s.out = nil
		if err != nil {
			return err
		}
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	var err error
	s.length, err = s.file.Seek(0, io.SeekCurrent)
	return err
}

// Finish makes a bounded result visible as a whole; a live one is only closed.
func (s *fileSink) Finish(context.Context) error {
	err := s.flush()
	if err == nil && s.file == nil {
		s.done = true
		return nil
	}
	if err == nil {
		err = s.file.Close()
	}
	if err == nil && s.name != s.target {
		err = os.Rename(s.name, s.target)
	}
	if err == nil {
		err = syncDir(filepath.Dir(s.target))
	}
	if err != nil {
		return fmt.Errorf("file: sink %s: finish: %w", s.name, err)
	}
	s.done = true
	return nil
}

// syncDir makes a change of names durable; a file system that cannot do it for directories does it by itself.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// Close closes the file as it is. A bounded result that was neither finished nor committed is taken away: nobody can go
// on from it.
func (s *fileSink) Close() error {
	if s.done || s.file == nil {
		return nil
	}
	s.done = true
	err := s.file.Close()
	if s.stream.Bounded && !s.committed {
		err = errors.Join(err, os.Remove(s.name))
	}
	return err
}
