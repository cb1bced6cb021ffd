package host

import "fednode/dcaa"

// patience is how long a peer may be silent. It grows when a suspicion turns out to have been wrong, so that a peer on a
// lossy link does not flap, and falls back to its base. A daemon shares what the silence of one node of another organisation has shown
// with the others of that; all nodes here are of one organisation, within which there is no such line.
type patience struct {
	base  int64
	most  int64
	extra int64
	since dcaa.Instant // when extra was set
}

// calm is the time in which what was added is halved, in microseconds.
const calm = 60_000_000

func newPatience(cfg *Settings) patience {
	base := cfg.Heartbeat * int64(cfg.Miss)
	return patience{base: base, most: max(base, min(cfg.Abandon/2, max(longest, 2*base)))}
}

func (p *patience) limit(now dcaa.Instant) int64 {
	extra := p.extra
	for since := int64(now - p.since); since >= calm && extra > 0; since -= calm {
		extra /= 2
	}
	return min(p.base+extra, p.most)
}

// longest is how long a peer may be silent at most, in microseconds, as in the daemon.
const longest = 1_500_000

// mistake is the longest silence that a suspicion can have been wrong about, in microseconds, as in the daemon.
const mistake = 1_000_000

// refuted takes in that a peer that had been silent for so long was there all the same.
func (p *patience) refuted(silence int64, now dcaa.Instant) {
	if silence <= max(mistake, 2*p.base) {
		p.passed(silence, now)
	}
}

// passed takes in that a peer went on after a silence.
func (p *patience) passed(silence int64, now dcaa.Instant) {
	if wanted := 3 * silence; silence > p.base && wanted > p.limit(now) {
		p.extra, p.since = wanted-p.base, now
	}
}
