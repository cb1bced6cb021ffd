package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

// Stream is a data stream: bytes, and credit for the payloads that count. The side that opened it sends: before each
// payload that counts it calls Acquire, then Write. The other side calls Take for each such payload and Release when it
// is done with it. One goroutine may read while another writes; credit calls are safe from any.
//
// A Stream ends with its session: Read and Write then return an error.
type Stream struct {
	// fixed
	session *session
	key     streamKey
	raw     network.Stream
	ours    *sending   // nil at the receiver
	theirs  *receiving // nil at the sender
	quota   *quota     // what is read is charged to it; nil for our own organisation, and at the sender
	done    chan struct{}

	close sync.Once
}

// Peer is the other side.
func (s *Stream) Peer() Peer { return s.session.peer }

// Read reads what the other side wrote; io.EOF after its CloseWrite. A partner's bytes are charged to its quota here,
// before anything is decoded: beyond its rate the reader waits, and so, by and by, does the partner.
func (s *Stream) Read(p []byte) (int, error) {
	if s.quota != nil && s.quota.bytes != nil && len(p) > maxRead {
		p = p[:maxRead]
	}
	n, err := s.raw.Read(p)
	if n > 0 {
		s.session.touch()
		if err := s.charge(n); err != nil {
			return n, err
		}
	}
	return n, err
}

// maxRead keeps one read below the burst that a rate limiter allows.
const maxRead = 64 << 10

func (s *Stream) charge(n int) error {
	if s.quota == nil || s.quota.bytes == nil {
		return nil
	}
	r := s.quota.bytes.ReserveN(time.Now(), min(n, s.quota.bytes.Burst()))
	wait := r.Delay()
	if wait == 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.done:
		return ErrClosed
	}
}

// Write sends p whole, or fails. It waits as long as the session lives: a receiver that is alive and slow is no failure,
// and one that is dead ends the session, and with it the stream.
func (s *Stream) Write(p []byte) (int, error) {
	n, err := s.raw.Write(p)
	if err != nil {
		err = fmt.Errorf("p2p: data stream to %s: %w", s.session.peer.Member, err)
	}
	return n, err
}

// Acquire waits until the receiver has given credit and takes n bytes of it. It returns ErrClosed when the stream ends
// and ctx's error when that ends first.
func (s *Stream) Acquire(ctx context.Context, n int) error {
	if s.ours == nil {
		return errors.New("p2p: the side that opened the stream sends on it")
	}
	return s.ours.acquire(ctx, s.done, n)
}

// Owed says whether we could send but for credit: the receiver is slow, not the network.
func (s *Stream) Owed() bool { return s.ours != nil && s.ours.owed() }

// Subscription is the number that the consumer gave it.
func (s *Stream) Subscription() uint64 { return s.key.subscription }

// Take counts a payload of n bytes that came. ErrCredit if the sender had no credit left for it: abort the stream then.
func (s *Stream) Take(n int) error {
	if s.theirs != nil && !s.theirs.take(n) {
		return ErrCredit
	}
	return nil
}

// Release gives n bytes of credit back: what came with them was handed on.
func (s *Stream) Release(n int) {
	if s.theirs == nil {
		return
	}
	if give := s.theirs.release(n); give > 0 {
		s.session.giveCredit(s.key.subscription, give)
	}
}

// CloseWrite says that nothing more will be written; the other side reads io.EOF.
func (s *Stream) CloseWrite() error { return s.raw.CloseWrite() }

// Close ends the stream in good order. It can be called more than once.
func (s *Stream) Close() error {
	var err error
	s.finish(func() { err = s.raw.Close() })
	return err
}

// Abort ends the stream at once; the other side sees the code.
func (s *Stream) Abort(code network.StreamErrorCode) {
	s.finish(func() { resetWith(s.raw, code) })
}

func (s *Stream) finish(how func()) {
	s.close.Do(func() {
		close(s.done)
		how()
		s.session.forget(s)
	})
}
