package file

import (
	"context"
	"io"
)

// stdinReader reads an input whose reads cannot be interrupted, so that ctx can end the wait for it. Its goroutine ends
// with the input, or with the first read that returns after ctx is done; a read that never returns keeps it until the
// process ends, which is the price of an input that nobody can close.
type stdinReader struct {
	ctx    context.Context // of the source's Open: one reader, one input, one life
	pieces chan []byte     // closed by the goroutine, after err is set; unbuffered, so that it reads one piece ahead
	err    error
	rest   []byte
}

func newStdin(ctx context.Context, src io.Reader) *stdinReader {
	s := &stdinReader{ctx: ctx, pieces: make(chan []byte)}
	go s.pump(src)
	return s
}

func (s *stdinReader) pump(src io.Reader) {
	defer close(s.pieces)
	for {
		piece := make([]byte, 64<<10)
		n, err := src.Read(piece)
		if n > 0 {
			select {
			case s.pieces <- piece[:n]:
			case <-s.ctx.Done():
				s.err = s.ctx.Err()
				return
			}
		}
		if err != nil {
			s.err = err
			return
		}
	}
}

// Read reads what has arrived.
func (s *stdinReader) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case piece, ok := <-s.pieces:
			if !ok {
				return 0, s.err
			}
			s.rest = piece
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
