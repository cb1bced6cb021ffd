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
	tries int           // dials so far
}

// trialFirst is how long the first dial to a peer that was there before may take, beside round trips. What is sent into a
// cut is sent again after a second, and then after pauses that double: who wants to know when a cut is over dials anew.
const trialFirst = 500 * time.Millisecond

// trialMost is how long dials may take that are to find the end of a cut; one in patientEvery may take as long as any, for a
// peer that is slow to answer.
const (
	trialMost    = 2 * time.Second
	patientEvery = 4
)

// A peer that answers to no dial is away or cut off, and dialling costs little: it is to be found soon when it is back. But all
// peers that are away together are dialled about dialsPerSec times a second at most.
const (
	soon        = time.Second
	dialsPerSec = 20
)

// sooner returns the longest pause between dials to a peer that answers to none, while so many are away.
func (b Backoff) sooner(away int) time.Duration {
	return min(b.Max, max(soon, time.Duration(away)*time.Second/dialsPerSec))
}

// draw returns the next pause: from the upper half of a bound that grows by a quarter, so that nodes that lost the same
// peer at the same time do not come back together. A peer that is back is found within about a quarter of the time that it
// was away, and within the longest pause.
func (p *pauses) draw(longest time.Duration) time.Duration {
	bound := min(max(p.next, p.cfg.Min), max(longest, p.cfg.Min))
	p.next = bound + bound/4
	return bound/2 + rand.N(bound/2+1)
}

// allow returns how long the next dial may take; a connection takes several round trips.
func (p *pauses) allow(rtt, most time.Duration) time.Duration {
	trial := max(p.trial, trialFirst)
	p.trial = min(trial+trial/4, most)
	if p.tries++; p.tries%patientEvery != 0 {
		trial = min(trial, trialMost)
	}
	return min(trial+8*rtt, most)
}

// reset starts over: there is news of the peer.
func (p *pauses) reset() { *p = pauses{cfg: p.cfg} }
