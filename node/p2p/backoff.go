package p2p

import (
	"math/rand/v2"
	"time"
)

// pauses yields the pauses between dials.
type pauses struct {
	cfg  Backoff
	next time.Duration // 0: the first
}

// draw returns the next pause: from the upper half of a bound that doubles, so that nodes that lost the same peer at
// the same time do not come back together.
func (p *pauses) draw() time.Duration {
	bound := max(p.next, p.cfg.Min)
	p.next = min(2*bound, p.cfg.Max)
	return bound/2 + rand.N(bound/2+1)
}

// reset starts over: there is news of the peer.
func (p *pauses) reset() { p.next = 0 }
