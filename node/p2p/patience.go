package p2p

import "time"

// patience is how long a peer may be silent. It starts with heartbeat times miss and grows when a suspicion turns out
// to have been wrong, and with each silence that it bore: on a link that loses or delays heartbeats a peer that is there must
// not flap.
type patience struct {
	base   time.Duration
	most   time.Duration
	extra  time.Duration // on top of base
	at     time.Time     // when extra was set
	period time.Duration // extra halves in each
	flaps  uint64        // suspicions refuted
}

func newPatience(cfg Config) patience {
	base := cfg.silence()
	return patience{base: base, most: max(base, min(cfg.Abandon/2, max(longest, 2*base))), period: time.Minute}
}

// limit is how long the peer may be silent at time now.
func (p *patience) limit(now time.Time) time.Duration {
	extra := p.extra
	for since := now.Sub(p.at); since >= p.period && extra > 0; since -= p.period {
		extra /= 2
	}
	return min(p.base+extra, p.most)
}

// longest is how long a peer may be silent at most, unless its heartbeats are far apart: patience with a line must not let the
// crash of a peer go unnoticed for long.
const longest = 1500 * time.Millisecond

// mistake is the longest silence that a suspicion can have been wrong about. Who was silent for longer was away: to be more
// patient with it would only let the next outage go unnoticed for as long.
const mistake = time.Second

// mistaken says whether a peer that was heard again after a silence had been there all the while.
func (p *patience) mistaken(silence time.Duration) bool { return silence <= max(mistake, 2*p.base) }

// passed takes in that a peer went on after a silence. The next one may be three times as long and pass as well: where a packet is
// lost again when it is sent again, TCP waits twice as long before it tries once more.
func (p *patience) passed(silence time.Duration, now time.Time) {
	if wanted := 3 * silence; silence > p.base && wanted > p.limit(now) {
		p.extra, p.at = wanted-p.base, now
	}
}
