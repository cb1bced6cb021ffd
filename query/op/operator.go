package op

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// Out takes what an operator emits. The batch is borrowed: the operator reuses its memory after Batch returns. Rows of
// one port come in order of stime, never below the boundary last returned, and are in the operator's canonical order.
type Out interface {
	Batch(port int, b *tuple.Batch) error
}

// Operator is one running instance. Its rows come port by port; within a port in the stream's order (see
// Plan.OrderInsensitive for the exception), and never with an stime below that port's boundary.
//
// One port may be ahead of another by any time, with all its boundaries: what is emitted and which limits break do not
// depend on it.
//
// An error stops the fragment: a broken limit is a *LimitError, anything else is a bug of ours.
type Operator interface {
	// Process takes a batch of input port in. The batch is borrowed.
	Process(in int, b *tuple.Batch, out Out) error

	// Boundary says that no later row of port in has stime < t. t does not fall. The operator first emits every row with
	// stime below its own new boundary, then returns it; that one does not fall either. tuple.MaxTime ends the port: when
	// all have ended the operator emits all it has and returns tuple.MaxTime.
	Boundary(in int, t tuple.Time, out Out) (tuple.Time, error)

	// Snapshot appends the whole state, boundaries included; the bytes depend on the input alone. It is called when every
	// port stands between two buckets, one possibly ahead of another, and does not change the operator.
	Snapshot(e *tuple.Encoder)

	// Restore replaces the state of a new instance by a snapshot of the same plan. Malformed input is recorded in d, and
	// the instance is then not used.
	Restore(d *tuple.Decoder)

	// Fork returns an instance with the same state and future; afterwards the two are independent. It costs little, and
	// what either changes later costs in proportion to the change.
	Fork() Operator

	// StateBytes estimates the memory that the state holds.
	StateBytes() int64

	// Counters returns running totals of what the operator swallowed; they are not part of the state.
	Counters() Counters
}

// Counters are totals since the instance was made.
type Counters struct {
	RowsIn    uint64
	RowsOut   uint64
	DivByZero uint64 // divisions and remainders by zero that gave null
	Overflow  uint64 // int64 and decimal results beyond the range that gave null
	Dropped   uint64 // rows a declared limit let go: ttl, rows, count
}

// Add returns the sum of both.
func (c Counters) Add(o Counters) Counters {
	c.RowsIn += o.RowsIn
	c.RowsOut += o.RowsOut
	c.DivByZero += o.DivByZero
	c.Overflow += o.Overflow
	c.Dropped += o.Dropped
	return c
}

// LimitError says that an operator reached a declared or configured limit; it stops that fragment, never the node.
type LimitError struct {
	What  string // "groups", "state bytes", "collected values of group src=10.0.0.1"
	Limit int64
}

// Error says which limit and what to do.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s passed the limit of %d; raise the limit, or narrow the window or the groups", e.What, e.Limit)
}

// Convergence says how far back an operator's state depends on its input.
type Convergence uint8

// The classes. Convergent state depends on a finite suffix of the input.
const (
	Stateless Convergence = iota
	Convergent
	Divergent
)

// String names the class.
func (c Convergence) String() string { return [...]string{"stateless", "convergent", "divergent"}[c] }

// Input is what a declaration reads from: its name as written, and its schema. Table is set where the input is the
// output of a table (Plan.Table): rows are then versions of keyed entries.
type Input struct {
	Name   string
	Schema *tuple.Schema
	Table  *Table
}

// Table says how a stream of versions is read as a keyed table.
type Table struct {
	Key   []string // columns; one for a match other than "exact"
	Match string   // "exact", "longest-prefix" (a cidr) or "suffix" (a string)
	TTL   int64    // microseconds of stime after which an entry that was not renewed is gone, 0 for never
	Limit int64    // entries, 0 for no limit
}

// Port is one output of an operator; the name is "" but for a router's.
type Port struct {
	Name   string
	Schema *tuple.Schema
}

// Plan is a checked declaration: what explain prints and the planner decides by, and how to make instances.
type Plan struct {
	Kind  string
	Ports []Port
	// OrderInsensitive: the output is the same for every order of the rows between two boundaries.
	OrderInsensitive bool
	// RestoresOrder: the output's order does not depend on the input's, so what follows sees an ordered stream.
	RestoresOrder bool
	Convergence   Convergence
	// Span is the length of the input suffix that the state depends on in microseconds of stime, 0 if stateless, -1 if
	// not bounded by time.
	Span int64
	// State says what bounds the state, in words: "groups per 60s window".
	State string
	// Blocking: without one of its inputs the operator yields nothing.
	Blocking bool
	// Reads are the columns used of each input, in schema order; nil for one means all.
	Reads [][]string
	// Detail is the declaration on one line, for explain.
	Detail string
	// Table is set by the kind table: the diagram hands it on to whoever reads this operator, as Input.Table.
	Table *Table
	// New makes an instance.
	New func() Operator
}

// Kind is one kind of operator: its name and how a declaration becomes a plan. Build reads t with spec.Read, checks
// everything it can, records every problem, and returns nil if there was one. The keys kind, input, inputs, left and
// right are read by the diagram (r has seen them); in has as many entries as Inputs allows.
type Kind struct {
	Name string
	// MinInputs and MaxInputs; MaxInputs -1 is any number. TwoSided kinds are declared with left and right.
	MinInputs int
	MaxInputs int
	TwoSided  bool
	// TableKey is the key of the declaration that names a table, which is the last input; "" if the kind reads none.
	TableKey string
	Build    func(r *spec.Reader, in []Input) *Plan
}
