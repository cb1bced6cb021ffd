package ingest

import (
	"math"

	"fednode/query/tuple"
)

// LatePolicy says what becomes of a row whose time has passed.
type LatePolicy uint8

// The policies. Late rows are counted under every one of them.
const (
	// LateSide sets the row aside, into <stream>.late.
	LateSide LatePolicy = iota
	// LateDrop drops the row.
	LateDrop
	// LateClamp keeps the row and moves its stime up to the limit; its columns stay as they are.
	LateClamp
)

// FuturePolicy says what becomes of a row that is ahead of its arrival.
type FuturePolicy uint8

// The policies. Future rows never push the clock of the stream.
const (
	FutureSide FuturePolicy = iota
	FutureClamp
)

// Unbounded is the slack of bounded input that may stand in any order: one boundary, at the end. As a skew it switches
// the check off.
const Unbounded = math.MaxInt64

// Config of a source stream. Durations are microseconds.
type Config struct {
	// MaxOutOfOrder is the slack: how far a row may lie behind the largest earlier stime. 0 to Unbounded.
	MaxOutOfOrder int64
	// Lag is how late rows normally come after their stime, 0 or more, or Measured. It changes no result.
	Lag    int64
	Late   LatePolicy
	Future FuturePolicy
	// MaxFutureSkew is how far a row may be ahead of its arrival; Unbounded for bounded, replayed and generated input.
	MaxFutureSkew int64
	// Advance lets the boundary follow the clock while the connector is idle (`idle = "advance"`).
	Advance bool
	// IdleAfter is how long a connected source with nothing to read stays silent before it counts as idle.
	IdleAfter int64
	// InitDelay is how long a source that has sent nothing is waited for before it counts as idle at Start.
	InitDelay int64
	// Start is the stream time from which an idle source that never sent a row advances: the deployment's start.
	Start tuple.Time
	// BoundaryInterval is how often a boundary is sent while rows come; it changes no result.
	BoundaryInterval int64
}

// Defaults of page "Time" of the documentation, in microseconds.
const (
	DefaultBoundaryInterval = 100 * tuple.Millisecond
	DefaultInitDelay        = 10 * tuple.Second
	DefaultMaxFutureSkew    = tuple.Minute
)

// Live returns the configuration of a live stream without slack.
func Live() Config {
	return Config{
		MaxFutureSkew: DefaultMaxFutureSkew, Advance: true, IdleAfter: 3 * DefaultBoundaryInterval,
		InitDelay: DefaultInitDelay, Start: tuple.MinTime, BoundaryInterval: DefaultBoundaryInterval,
	}
}

// Bounded returns the configuration of bounded input in any order.
func Bounded() Config {
	return Config{MaxOutOfOrder: Unbounded, MaxFutureSkew: Unbounded, Start: tuple.MinTime, BoundaryInterval: DefaultBoundaryInterval}
}
