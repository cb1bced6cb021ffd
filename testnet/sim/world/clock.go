package world

import "fednode/query/tuple"

// clock is the monotonic clock of one node: reading = base + (time - since)·(1 + drift).
type clock struct {
	base  int64
	since int64
	// drift is in parts per million of the world's rate.
	drift int64
}

const million = 1_000_000

// read returns what the clock shows at a world time.
func (c *clock) read(at int64) tuple.Instant {
	d := at - c.since
	return tuple.Instant(c.base + d + d*c.drift/million)
}

// when returns the first world time at which the clock shows t or more.
func (c *clock) when(t tuple.Instant) int64 {
	d := int64(t) - c.base
	at := c.since + d - d*c.drift/million
	for c.read(at) < t {
		at++
	}
	return at
}

// jump moves the reading ahead.
func (c *clock) jump(at, by int64) {
	c.base, c.since = int64(c.read(at))+by, at
}
