package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"fednode/node/connect"
	"fednode/node/connect/format"
)

// followReader follows one path for ever: the file that stands there, and after a rotation what is left of the old one,
// the files in between, and then the new one.
type followReader struct {
	stream *connect.Stream
	opts   format.Options
	rows   *format.Rows
	path   string
	watch  *watch

	cur     *input
	queue   []string  // files to read to their ends before path is followed again
	start   *position // where the next file begins, if not at its beginning
	rotated bool      // path has become another file; cur is read to its end
	graced  bool      // one more wait has passed since then
	at      *position // after the last record read of cur, as the file was then; nil: at its beginning
	lastPos []byte    // of the last block with rows
	paused  bool      // the last read came to the end: by now the file may have been emptied and have grown again
	told    connect.Status
	notice  string // about a loss, until a block has told it
	failed  error
	looked  atomic.Int64 // when the last look that found nothing began, since made; 0 before the first
	made    time.Time
}

var _ connect.Looking = (*followReader)(nil)

// Looked returns when the last look that found nothing began.
func (r *followReader) Looked() time.Time {
	at := r.looked.Load()
	if at == 0 {
		return time.Time{}
	}
	return r.made.Add(time.Duration(at))
}

func newFollow(s *connect.Stream, o format.Options, env *connect.Env, path string, pos []byte) (*followReader, error) {
	r := &followReader{stream: s, opts: o, rows: format.NewRows(s, env.Rows(), &o), path: path, told: connect.Status{State: connect.Behind}, made: env.Time().Now()}
	if pos != nil {
		at, err := decodePosition(pos)
		if err != nil {
			return nil, fmt.Errorf("file: position: %w", err)
		}
		r.lastPos = pos
		r.resumeAt(at)
	}
	r.watch = newWatch(path, env.Time())
	return r, nil
}

// Next returns the next block.
func (r *followReader) Next(ctx context.Context) (*connect.Block, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.failed != nil {
			return nil, r.failed
		}
		if r.cur == nil {
			if status, ok := r.open(); !ok {
				if r.failed != nil {
					continue
				}
				if b := r.tell(status); b != nil {
					return b, nil
				}
				if err := r.watch.wait(ctx); err != nil {
					return nil, err
				}
				continue
			}
		}
		if r.paused && r.emptied() {
			r.truncated(r.at)
			continue
		}
		begun := max(1, r.watch.clock.Now().Sub(r.made))
		err := r.cur.in.Read(r.rows, r.finishing())
		r.paused = err == io.EOF
		r.mark()
		if r.rows.Len() > 0 || r.rows.Rejected() > 0 {
			return r.block(err), nil
		}
		if err != nil && err != io.EOF {
			r.failed = fmt.Errorf("file: %w", err)
			continue
		}
		moved, status := r.atEnd()
		if moved {
			continue
		}
		if status.State == connect.Idle {
			r.looked.Store(int64(begun))
		}
		if b := r.tell(status); b != nil {
			return b, nil
		}
		if err := r.watch.wait(ctx); err != nil {
			return nil, err
		}
		r.graced = r.rotated
	}
}

// mark remembers the place after the last record, with what lies before it now: later the file may have been emptied and
// have grown again.
func (r *followReader) mark() {
	if at := r.cur.position(); r.at == nil || at.offset != r.at.offset {
		r.at = at
	}
}

// finishing reports whether what cur ends with is to count as a whole record: nobody will write to it any more.
func (r *followReader) finishing() bool { return len(r.queue) > 0 || r.rotated && r.graced }

// block takes what has been read; err is how reading stopped.
func (r *followReader) block(err error) *connect.Block {
	b := r.rows.Take()
	r.lastPos = r.at.encode()
	b.Pos = r.lastPos
	b.Status = connect.Status{State: connect.Behind, Detail: r.detail()}
	if err == io.EOF && !r.finishing() && !r.rotated {
		b.Status.State = connect.Idle
	}
	r.told = b.Status
	return b
}

func (r *followReader) detail() string {
	note := r.notice
	r.notice = ""
	if n := r.cur.in.Notice(); n != "" {
		if note != "" {
			note += "; "
		}
		note += n
	}
	return note
}

// tell returns a block without rows if the status is news.
func (r *followReader) tell(s connect.Status) *connect.Block {
	if r.notice != "" {
		s.Detail, r.notice = r.notice, ""
	}
	if s == r.told {
		return nil
	}
	r.told = s
	return &connect.Block{Status: s, Pos: r.lastPos}
}

// open opens the next file: of the queue, or else path. If there is none, it returns the status to tell.
func (r *followReader) open() (connect.Status, bool) {
	name := r.path
	if len(r.queue) > 0 {
		name = r.queue[0]
	}
	at := r.start
	in, err := openInput(r.stream, r.opts, name, at)
	switch {
	case err == nil:
		if !in.plain {
			in.close()
			r.failed = fmt.Errorf("file: %s is compressed, or no regular file: it cannot be followed; read it without `follow`", name)
			return connect.Status{}, false
		}
		r.cur, r.at, r.start = in, at, nil
		r.rows.SetFile(r.path)
		return connect.Status{}, true
	case errors.Is(err, fs.ErrNotExist) && len(r.queue) > 0:
		r.lost(name + " is gone")
		r.queue, r.start = r.queue[1:], nil
		return connect.Status{State: connect.Behind}, false
	case errors.Is(err, fs.ErrNotExist):
		return connect.Status{State: connect.Disconnected, Detail: name + " does not exist"}, false
	}
	var notNow *fs.PathError
	if !errors.As(err, &notNow) {
		r.failed = fmt.Errorf("file: %w", err)
	}
	return connect.Status{State: connect.Disconnected, Detail: err.Error()}, false
}

// lost notes that something was not read; the next block tells it.
func (r *followReader) lost(what string) {
	if r.notice != "" {
		what = r.notice + "; " + what
	}
	r.notice = what
}

// atEnd looks what has become of the path now that cur has been read to its end. moved: there is something to read.
func (r *followReader) atEnd() (moved bool, s connect.Status) {
	if len(r.queue) > 0 {
		r.cur.close()
		r.cur, r.queue = nil, r.queue[1:]
		return true, s
	}
	mine, err := r.cur.file.Stat()
	if err != nil {
		return false, connect.Status{State: connect.Disconnected, Detail: err.Error()}
	}
	now, err := os.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Between the steps of a rotation, or deleted: the file is still open, and its writer may still write.
		return false, connect.Status{State: connect.Disconnected, Detail: r.path + " does not exist"}
	case err != nil:
		return false, connect.Status{State: connect.Disconnected, Detail: err.Error()}
	case !os.SameFile(mine, now):
		return r.leave(now), connect.Status{State: connect.Behind}
	}
	r.rotated, r.graced = false, false
	if mine.Size() == r.cur.seen {
		return false, connect.Status{State: connect.Idle}
	}
	r.cur.seen = mine.Size()
	if r.emptied() {
		r.truncated(r.at)
		return true, s
	}
	return mine.Size() > r.cur.readTo(), connect.Status{State: connect.Idle}
}

// emptied reports whether what had been read of the file does not lie before the place any more.
func (r *followReader) emptied() bool {
	return r.at != nil && !r.at.imprint.matches(r.cur.file, r.at.offset)
}

// leave gives up the file that was renamed away, once its writer has surely gone over to the new one: that has content,
// or one more wait has passed. What the old one then ends with is a record.
func (r *followReader) leave(now fs.FileInfo) (moved bool) {
	if !r.rotated {
		r.rotated, r.graced = true, now.Size() > 0
		return true // read once more: rows may have come between the end and the look
	}
	if !r.graced {
		return false
	}
	r.cur.close()
	r.cur, r.rotated, r.graced = nil, false, false
	r.opts.Later = true
	return true
}

// truncated goes on after the file was emptied in place: what it held beyond at is in a copy, if there is one.
func (r *followReader) truncated(at *position) {
	r.cur.close()
	r.cur, r.rotated, r.graced, r.paused = nil, false, false, false
	r.resumeAt(at)
}

// Close closes what is open.
func (r *followReader) Close() error {
	r.cur.close()
	r.cur, r.failed = nil, io.EOF
	return r.watch.close()
}
