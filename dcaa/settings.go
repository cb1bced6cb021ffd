package dcaa

import "math"

// Unbounded is the MaxDelay of a query that takes stable results only.
const Unbounded int64 = math.MaxInt64

// Policy says what happens to buckets that stay incomplete after the first of a failure.
type Policy uint8

// The policies.
const (
	// Process goes on after a short wait for stragglers.
	Process Policy = iota
	// Delay holds each bucket as long as the availability bound allows, so that fewer tuples are tentative.
	Delay
	// Suspend holds them until the failure has healed: availability is given up.
	Suspend
)

// String returns the policy's name in a query file.
func (p Policy) String() string { return [...]string{"process", "delay", "suspend"}[p] }

// Consistency is what a query's client gets in the end.
type Consistency uint8

// The consistencies.
const (
	// Eventual: tentative results are corrected.
	Eventual Consistency = iota
	// StableOnly: there are no tentative results.
	StableOnly
	// BestEffort: what has been tentative stays so. Results are stable again once the state depends on nothing that a failure
	// has kept away, in a new generation.
	BestEffort
)

// Redo says what becomes of the tentative state when its input is complete again.
type Redo uint8

// The ways to redo.
const (
	// RedoFork keeps the fork until the stable side has passed it: it serves new tuples all the while.
	RedoFork Redo = iota
	// RedoUndo gives it up first: nothing is worked on twice, and new tuples wait until the redo has come to them.
	RedoUndo
)

// String returns the name in a query file.
func (r Redo) String() string { return [...]string{"fork", "undo"}[r] }

// Settings are what a query says of availability, and the intervals of its federation. Durations are microseconds.
type Settings struct {
	// MaxDelay is X, the availability bound: how much a failure may delay a result. Unbounded holds for ever.
	MaxDelay int64
	// Failure is the policy while an input is missing, Stabilization the one while corrections are made.
	Failure       Policy
	Stabilization Policy
	Consistency   Consistency
	Redo          Redo
	// Heartbeat is the interval of heartbeats; Miss of them missing in a row are a failure.
	Heartbeat int64
	Miss      int
	// BoundaryInterval is how often a source sends a boundary, Bucket the size of an SUnion's buckets.
	BoundaryInterval int64
	Bucket           int64
	// IdleAfter is how long a source waits before it says that it is idle.
	IdleAfter int64
	// Grace is g: what one hop may take, its jitter included.
	Grace int64
	// InitDelay is how long a stream that has never given a boundary is waited for.
	InitDelay int64
	// AbandonAfter is how long rows are waited for that nobody within reach holds, while somebody who is away may: another
	// producer, or another replica of the consumer with a state that covers them. Longer than a node takes to restart; what
	// is waited for is kept meanwhile, since of each neighbour the replica that has acknowledged most always counts.
	AbandonAfter int64
}

// DefaultSettings returns the settings of a query that says nothing.
func DefaultSettings() Settings {
	const ms = 1000
	return Settings{MaxDelay: 3000 * ms, Failure: Delay, Stabilization: Process, Heartbeat: 100 * ms, Miss: 3,
		BoundaryInterval: 100 * ms, Bucket: 100 * ms, IdleAfter: 300 * ms, Grace: 20 * ms, InitDelay: 10_000 * ms,
		AbandonAfter: 120_000 * ms}
}

// tick is the interval at which the boundaries of a healthy stream rise.
func (s *Settings) tick() int64 { return max(s.BoundaryInterval, s.Bucket) }

// stall is how long a boundary may be overdue before its stream counts as failed: three intervals past when it was due.
func (s *Settings) stall() int64 { return 4 * s.tick() }

// reserve is what finding out about a failure takes at worst.
func (s *Settings) reserve() int64 {
	return max(s.Heartbeat*int64(s.Miss+1), s.IdleAfter+s.BoundaryInterval)
}

// Place says where an SUnion stands in its diagram, and what is normal for the streams that reach it.
type Place struct {
	// Depth is j: the SUnion is the j-th on the longest path from a source, from 1. Path is J, how many SUnions there are
	// on the longest path through it.
	Depth int
	Path  int
	// Slack is the largest slack of its sources, Lag what a source normally lags behind its stime, Latency the longest normal
	// way to here, as far as they are known beforehand: what boundaries say counts beside it. Skew is by how much the clocks
	// of sources may differ. Microseconds.
	Slack   int64
	Lag     int64
	Latency int64
	Skew    int64
}

// bound returns X less the boundary interval and so many graces, at least 0; Unbounded stays Unbounded.
func (s *Settings) bound(graces int, reserve int64) int64 {
	if s.MaxDelay == Unbounded {
		return Unbounded
	}
	return max(0, s.MaxDelay-s.BoundaryInterval-int64(graces)*s.Grace-reserve)
}

// failedLimit is H: how long an SUnion waits for an input that has failed.
func (s *Settings) failedLimit(p Place) int64 { return s.bound(p.Path-p.Depth+3, s.reserve()) }

// liveLimit is how long it waits for an input whose producer lives: that one gives up first, and its bucket comes in
// time.
func (s *Settings) liveLimit(p Place) int64 { return s.bound(p.Path-p.Depth+2, 0) }

// redoLimit is how long new rows wait for the redo of the node itself, whose results they are given behind if it does not come to
// them: at each hop to the client as many of those may lie in front of them as a bucket takes, and a slice of work here. At each
// hop from the sources as many have lain in front of them before they were taken in, if that one redoes as well, and by that they are
// older than their age says.
func (s *Settings) redoLimit(p Place) int64 {
	if s.MaxDelay == Unbounded {
		return Unbounded
	}
	queue := int64(p.Path) * (s.BoundaryInterval + 2*s.Grace)
	return max(s.failedLimit(p), s.liveLimit(p)-queue)
}

// latest is the largest delay with which a bucket may come: every SUnion above has given it up by then, even for an input that
// lives, and the grace of the last hop is spent.
func (s *Settings) latest() int64 { return s.bound(1, 0) }

// shortLimit is how long a bucket waits for stragglers under Process, once the first of a failure has been let go.
func (s *Settings) shortLimit(p Place) int64 {
	const straggler = 50_000
	return min(straggler+int64(p.Depth-1)*s.Grace, s.failedLimit(p))
}

// MinDelay is the smallest sensible availability bound at a place: with less, finding a failure and taking another
// replica would already make results tentative.
func (s *Settings) MinDelay(p Place) int64 {
	return s.BoundaryInterval + int64(p.Path+2)*s.Grace + s.reserve() + s.IdleAfter + s.BoundaryInterval
}
