package query

import (
	"math"

	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Unbounded is "inf" where a query file gives a duration or a delay.
const Unbounded int64 = math.MaxInt64

// Diagram is a checked query: a directed acyclic graph of operators between streams and outputs. Every list is in order
// of name, but for Operators, which are in topological order, ties by name: two files that differ only in the order of
// their sections make the same diagram.
type Diagram struct {
	File      string
	Settings  Settings
	Streams   []*Stream
	Operators []*Operator
	Outputs   []*Output
	Fragments []*Fragment
}

// Settings is the [query] section. Durations are in microseconds.
type Settings struct {
	Name        string
	Description string
	// MaxDelay is X, the incremental latency accepted under failure; Unbounded means stable results only.
	MaxDelay      int64
	Failure       Policy
	Stabilization Policy
	Consistency   Consistency
	// Redo is what becomes of the tentative state when its input is complete again.
	Redo Redo
	// OnFull is what happens when an output is full. CorrectWindow is how much of it is kept in any case, 0 if nothing is given
	// up.
	OnFull        OnFull
	CorrectWindow int64
	// Bucket is the size d of SUnion's buckets.
	Bucket int64
	// DurableLevel is the level at which upstream may free its copies; 0 leaves it to the deployment.
	DurableLevel int
	// Semantics pins the version of what operators and functions mean.
	Semantics int

	pos            spec.Pos // of the section
	maxDelayPos    spec.Pos
	onFullPos      spec.Pos
	consistencyPos spec.Pos
}

// Semantics is the version of operator and function semantics this build gives to queries that do not pin one.
const Semantics = 1

// Policy says what to do with a bucket whose input is incomplete.
type Policy string

// The policies.
const (
	Process Policy = "process"
	Delay   Policy = "delay"
	Suspend Policy = "suspend"
)

// Consistency is what a query promises of its results.
type Consistency string

// The promises.
const (
	Eventual   Consistency = "eventual"
	StableOnly Consistency = "stable-only"
	// BestEffort corrects nothing: what was tentative stays so, and stable results begin anew once they depend on nothing that a
	// failure kept away.
	BestEffort Consistency = "best-effort"
)

// Redo says how a fragment gets from tentative to stable results.
type Redo string

// The ways: RedoFork serves new rows from the tentative fork while the stable instance catches up, RedoUndo drops the
// fork first.
const (
	RedoFork Redo = "fork"
	RedoUndo Redo = "undo"
)

// Ref is what an operator or an output reads: a stream, or a port of an operator. Exactly one of Stream and Operator is
// set.
type Ref struct {
	Stream   *Stream
	Operator *Operator
	Port     int
}

// Name returns the reference as a query file writes it: a name, or operator.port for a router.
func (r Ref) Name() string {
	if r.Stream != nil {
		return r.Stream.Name
	}
	if p := r.Operator.Plan.Ports[r.Port].Name; p != "" {
		return r.Operator.Name + "." + p
	}
	return r.Operator.Name
}

// Schema returns the schema of what is read.
func (r Ref) Schema() *tuple.Schema {
	if r.Stream != nil {
		return r.Stream.Schema
	}
	return r.Operator.Plan.Ports[r.Port].Schema
}

// Operator is one operator of a diagram.
type Operator struct {
	Name   string
	Pos    spec.Pos
	Inputs []Ref
	Plan   *op.Plan
	// Used is false for an operator from which no output can be reached; it is not planned.
	Used bool

	table *spec.Table // the declaration, for the canonical form
}

// Output is where results leave.
type Output struct {
	Name      string
	Pos       spec.Pos
	Input     Ref
	Connector string
	// Keys is the whole declaration, the connector's own keys among it; nil in a diagram that came from a descriptor.
	Keys  *spec.Table
	Place Place
}

// Fragment is a declared cut: these operators are hosted, replicated and moved together.
type Fragment struct {
	Name      string
	Pos       spec.Pos
	Operators []*Operator
	Replicas  int
	Place     Place
}

// Operator returns the operator of a name, nil if there is none.
func (d *Diagram) Operator(name string) *Operator {
	for _, o := range d.Operators {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// Stream returns the stream of a name, nil if there is none.
func (d *Diagram) Stream(name string) *Stream {
	for _, s := range d.Streams {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Convergence returns the class of the whole diagram: that of its worst operator.
func (d *Diagram) Convergence() op.Convergence {
	var worst op.Convergence
	for _, o := range d.Operators {
		worst = max(worst, o.Plan.Convergence)
	}
	return worst
}
