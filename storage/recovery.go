package storage

import "fednode/query/tuple"

// RecoveryPoint is what a fragment goes on from after a restart: its state at a bucket boundary, the input that the
// state covers, and the output that nobody has acknowledged yet. An input is acknowledged upstream only up to what a
// stored point covers.
type RecoveryPoint struct {
	Fragment string
	Epoch    uint64 // of the query's descriptor
	// Boundary is the bucket boundary at which the state was cut: it covers every input row with a smaller stime.
	Boundary  tuple.Time
	Operators []OperatorState // in the order of the fragment
	Inputs    []InputPosition
	Outputs   []OutputState
}

// OperatorState is the snapshot of one operator; state is found again by name and version.
type OperatorState struct {
	Name     string
	Version  uint64
	Snapshot []byte
}

// InputPosition is how far the state covers an input.
type InputPosition struct {
	Stream   string
	Position tuple.Position
}

// OutputState is where an output goes on.
type OutputState struct {
	Stream     string
	Generation uint64
	NextID     uint64 // of the next stable tuple
	Boundary   tuple.Time
	Unacked    []Unacked // in order of ids
}

// Unacked is a stretch of stable output that some counted downstream replica has not acknowledged: the frame itself, or
// where it is stored.
type Unacked struct {
	FirstID uint64
	LastID  uint64
	// Frame is an encoded frame; nil if Log says where it is.
	Frame []byte
	Log   LogRef
}

// LogRef refers to a record of a segment log that is at least as durable as the point.
type LogRef struct {
	Log        string // the log's name, as the caller knows it
	Generation uint64
	Key        uint64
}

// LoadReport says how a point was chosen.
type LoadReport struct {
	// Number counts the fragment's points from 1; 0 if none was usable.
	Number uint64
	// Rejected are newer points that could not be used, newest first.
	Rejected []Rejected
}

// Rejected is a point that could not be used.
type Rejected struct {
	Number uint64
	Err    error
}
