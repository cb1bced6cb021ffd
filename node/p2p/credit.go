package p2p

import (
	"context"
	"sync"
)

// sending is the sender's side of a stream's credit, in payload bytes. Sending is allowed while any credit is left, so
// that a payload larger than the window cannot block for ever; the balance may become negative.
type sending struct {
	mu      sync.Mutex
	balance int64
	granted bool          // the receiver has answered at all
	more    chan struct{} // capacity 1: a grant since the last look
}

// newSending starts with nothing: the receiver grants its window when it accepts the stream.
func newSending() *sending { return &sending{more: make(chan struct{}, 1)} }

// acquire waits until there is credit, then takes n. done ends the wait when the stream is over.
func (c *sending) acquire(ctx context.Context, done <-chan struct{}, n int) error {
	for {
		select {
		case <-done:
			return ErrClosed
		default:
		}
		if c.take(n) {
			return nil
		}
		select {
		case <-c.more:
		case <-done:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *sending) take(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.balance <= 0 {
		return false
	}
	c.balance -= int64(n)
	return true
}

// grant adds what the receiver gave back. It refuses sums that no receiver of this window could reach.
func (c *sending) grant(n uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 1<<40 || c.balance > 1<<41 {
		return &PeerError{Place: "credit", Got: "more than a receiver can hold", Expected: "what was received"}
	}
	c.balance += int64(n)
	c.granted = true
	select {
	case c.more <- struct{}{}:
	default:
	}
	return nil
}

// owed says whether the sender waits for credit.
func (c *sending) owed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.granted && c.balance <= 0
}

// receiving is the receiver's side.
type receiving struct {
	mu     sync.Mutex
	window int64
	out    int64 // taken and not given back
	freed  int64 // released by the caller, not given back yet
}

// take counts a payload of n bytes; false if the sender had no credit left.
func (c *receiving) take(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out >= c.window {
		return false
	}
	c.out += int64(n)
	return true
}

// release returns how much to give back now: nothing until it is a quarter of the window, to keep credit messages few.
// A sender that waits has used up the window, so what it waits for always comes to more than that.
func (c *receiving) release(n int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freed += int64(n)
	if c.freed < c.window/4 {
		return 0
	}
	give := min(c.freed, c.out)
	c.out -= give
	c.freed -= give
	return uint64(give)
}
