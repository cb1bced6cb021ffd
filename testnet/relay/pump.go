package relay

import (
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// Sizes of what is under way on a stream.
const (
	pieceBytes = 32 << 10
	// underWay pieces wait at most, as a window would allow; then the sender has to wait.
	underWay = 32
	// segmentBytes is what is lost at a time.
	segmentBytes = 1448
)

// Times of TCP's retransmissions: the first after firstRetry, each further one after twice as long.
const (
	firstRetry = 200 * time.Millisecond
	mostRetry  = 3200 * time.Millisecond
)

// piece is what was read at once, and when it is due at the other end.
type piece struct {
	data []byte
	due  time.Time
}

// pump moves bytes one way.
type pump struct {
	table *Table
	way   Way
	done  <-chan struct{} // closed when the relay ends
}

// run copies until the sender has ended or either side fails, then passes the end on. stop is closed by it when nothing
// can be delivered any more.
func (p *pump) run(from, to *net.TCPConn) {
	pieces, failed := make(chan piece, underWay), make(chan struct{})
	finished := make(chan struct{})
	go func() { // ends when pieces is closed
		defer close(finished)
		if p.write(to, pieces) {
			return
		}
		close(failed)
		from.Close() // wakes the reader; errors are what we are here for
	}()
	p.read(from, pieces, failed)
	close(pieces)
	<-finished
}

// read takes pieces from a sender until it ends.
func (p *pump) read(from io.Reader, pieces chan<- piece, failed <-chan struct{}) {
	for {
		buf := make([]byte, pieceBytes)
		n, err := from.Read(buf)
		if n > 0 {
			select {
			case pieces <- piece{buf[:n], time.Now().Add(p.takes(n))}:
			case <-failed:
				return
			case <-p.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// takes draws how long n bytes take: the way's delay, and the retransmissions of what is lost of them.
func (p *pump) takes(n int) time.Duration {
	s := p.table.Get(p.way)
	d := s.wait()
	if s.Loss <= 0 {
		return d
	}
	worst := time.Duration(0)
	for ; n > 0; n -= segmentBytes {
		again := time.Duration(0)
		for retry := firstRetry; rand.Float64() < s.Loss && retry <= mostRetry; retry *= 2 {
			again += retry
		}
		worst = max(worst, again)
	}
	return d + worst
}

// write delivers pieces in their order, each not before it is due and not while the way is cut, and at last the end. false:
// the receiver takes nothing more.
func (p *pump) write(to *net.TCPConn, pieces <-chan piece) bool {
	for x := range pieces {
		if !p.until(x.due) || !p.table.open(p.way, p.done) {
			return false
		}
		if _, err := to.Write(x.data); err != nil {
			return false
		}
	}
	return p.table.open(p.way, p.done) && to.CloseWrite() == nil
}

// until waits for a time; false if the relay ends before.
func (p *pump) until(due time.Time) bool {
	d := time.Until(due)
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.done:
		return false
	}
}
