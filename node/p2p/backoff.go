package p2p

import (
	"math/rand/v2"
	"time"
)

// pauses yields the pauses between dials, and how long each dial may take.
type pauses struct {
	cfg   Backoff
	next  time.Duration // 0: the first
	trial time.Duration // of the next dial, beside round trips; 0: the first
}

// trialFirst is how long the first dial to a peer that was there before may take, beside round trips. What is sent into a
// cut is sent again after a second, and then after pauses that double: who wants to know when a cut is over dials anew.
const trialFirst = 500 * time.Millisecond

// draw returns the next pause: from the upper half of a bound that grows by a quarter, so that nodes that lost the same
// peer at the same time do not come back together. A peer that is back is found within about a quarter of the time that it
// was away.
func (p *pauses) draw() time.Duration {
	bound := max(p.next, p.cfg.Min)
	p.next = min(bound+bound/4, p.cfg.Max)
	return bound/2 + rand.N(bound/2+1)
}

// allow returns how long the next dial may take; a connection takes several round trips.
func (p *pauses) allow(rtt, most time.Duration) time.Duration {
	trial := max(p.trial, trialFirst)
	p.trial = min(trial+trial/4, most)
	return min(trial+8*rtt, most)
}

// reset starts over: there is news of the peer.
func (p *pauses) reset() { p.next, p.trial = 0, 0 }
