package p2p

import "time"

// patience is how long a peer may be silent. It starts with heartbeat times miss and grows when a suspicion turns out
// to have been wrong: on a link that loses or delays heartbeats a peer that is there must not flap.
type patience struct {
	base   time.Duration
	most   time.Duration
	extra  time.Duration // on top of base
	at     time.Time     // when extra was set
	period time.Duration // extra halves in each
	flaps  uint64        // suspicions refuted
}

func newPatience(cfg Config) patience {
	return patience{base: cfg.silence(), most: max(cfg.Abandon/2, cfg.silence()), period: time.Minute}
}

// limit is how long the peer may be silent at time now.
func (p *patience) limit(now time.Time) time.Duration {
	extra := p.extra
	for since := now.Sub(p.at); since >= p.period && extra > 0; since -= p.period {
		extra /= 2
	}
	return min(p.base+extra, p.most)
}

// mistake is the longest silence that a suspicion can have been wrong about. Who was silent for longer was away: to be more
// patient with it would only let the next outage go unnoticed for as long.
const mistake = time.Second

// refuted takes in that a peer held for dead after silence was there all the same.
func (p *patience) refuted(silence time.Duration, now time.Time) {
	p.flaps++
	wanted := silence + silence/2
	if silence <= max(mistake, 2*p.base) && wanted > p.limit(now) {
		p.extra, p.at = wanted-p.base, now
	}
}
