package api

import "time"

// QueryInfo is a query as its descriptor says.
type QueryInfo struct {
	ID   string `json:"id"` // org/name
	Org  string `json:"org"`
	Name string `json:"name"`
	// State is what the owner wants: running or stopped.
	State string `json:"state"`
	// Term counts takeovers by another node, Epoch the revisions within a term.
	Term  uint64 `json:"term"`
	Epoch uint64 `json:"epoch"`
	// Home is the owner's node, org/node.
	Home    string    `json:"home"`
	Created time.Time `json:"created"`
	// Assignments say who runs each fragment.
	Assignments []Assignment `json:"assignments"`
	// Here: a part of it runs on this node.
	Here bool `json:"here"`
	// Failure is why it does not run here as the descriptor says; "" if it does.
	Failure string `json:"failure"`
}

// Assignment says who runs a fragment.
type Assignment struct {
	Fragment string `json:"fragment"`
	Org      string `json:"org"`
	Node     string `json:"node"`
}

// QueryStatus is a query with what of it runs on this node.
type QueryStatus struct {
	QueryInfo
	// MaxDelay is the delay accepted under failure, in seconds; null for stable results only.
	MaxDelay *float64 `json:"max_delay_s"`
	// Sources are the streams that the query itself declares and that enter here.
	Sources   []SourceStatus   `json:"sources"`
	Fragments []FragmentStatus `json:"fragments"`
	Sinks     []SinkStatus     `json:"sinks"`
}

// QueryDetail is everything known of one query.
type QueryDetail struct {
	QueryStatus
	// File is the text of the query file; "" where it is another node's.
	File string `json:"file"`
}

// The states of a fragment.
const (
	FragmentRunning = "running"
	FragmentFailed  = "failed"  // and will be started again
	FragmentStopped = "stopped" // by a limit; only a person starts it again
)

// FragmentStatus is a fragment that runs here.
type FragmentStatus struct {
	Name  string `json:"name"`
	State string `json:"state"` // running, failed or stopped
	// Failure is what keeps the fragment from going on; "" if nothing does.
	Failure  string `json:"failure"`
	Restarts int    `json:"restarts"`
	// NextTry is when a failed fragment is started again.
	NextTry    *time.Time       `json:"next_try"`
	Operators  []OperatorStatus `json:"operators"`
	Inputs     []InputStatus    `json:"inputs"`
	Outputs    []OutputStatus   `json:"outputs"`
	StateBytes int64            `json:"state_bytes"`
	// Load is the share of the last ten seconds in which the fragment worked, 0 to 1. CannotCatchUp: corrections are under way
	// and have not gained on the input in that time; it needs a replica. Worked is for how many seconds it has worked since it started.
	Load          float64 `json:"load"`
	CannotCatchUp bool    `json:"cannot_catch_up"`
	Worked        float64 `json:"worked_s"`
	// Renewals counts what has come of it that corrections had stopped half way.
	Renewals Renewals `json:"renewals"`
	// Released is the end of the last bucket that went through the operators.
	Released StreamTime `json:"released"`
	// PointAt is when the last recovery point became durable, null before the first; PointBoundary is its place.
	PointAt       *time.Time `json:"point_at"`
	PointBoundary StreamTime `json:"point_boundary"`
}

// Renewals counts what has come of it, since the fragment started, that corrections had stopped half way: tentative results build on
// what has been corrected (Done), or go on without that, since it would take too long to make again what they have given behind it
// (Long), since rows for that are not kept any more (Forgotten), or since it ran into a limit (Failed).
type Renewals struct {
	Done      uint64 `json:"done"`
	Long      uint64 `json:"long"`
	Forgotten uint64 `json:"forgotten"`
	Failed    uint64 `json:"failed"`
}

// OperatorStatus is one operator of a fragment. Counts are since the fragment started.
type OperatorStatus struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	RowsIn  uint64 `json:"rows_in"`
	RowsOut uint64 `json:"rows_out"`
	// Dropped rows were let go by a declared limit. DivByZero and Overflow count results that gave null.
	Dropped    uint64     `json:"dropped"`
	DivByZero  uint64     `json:"div_by_zero"`
	Overflow   uint64     `json:"overflow"`
	StateBytes int64      `json:"state_bytes"`
	Boundary   StreamTime `json:"boundary"`
	// Lag is how far the fragment's input is ahead of the boundary, in seconds of stream time.
	Lag float64 `json:"lag_s"`
	// HeldBy names the input that holds the boundary back, "" while all are equal.
	HeldBy string `json:"held_by"`
}

// InputStatus is one stream that enters a fragment.
type InputStatus struct {
	Stream    string `json:"stream"`
	Connected bool   `json:"connected"`
	Cause     string `json:"cause"` // why not
	// Producer is the node that it is read from, org/node; "" if there is none.
	Producer string `json:"producer"`
	// Condition is live, failed or starting: what the fragment may expect of the input.
	Condition string `json:"condition"`
	// Tentative: what was read last will be corrected.
	Tentative bool       `json:"tentative"`
	Rows      uint64     `json:"rows"`
	Boundary  StreamTime `json:"boundary"`
	// Waiting rows are there and wait for other inputs, or for their bucket to be complete.
	Waiting int `json:"waiting"`
	// Held: the input is ahead of the others and is not read until they have come nearer.
	Held bool `json:"held"`
	// Diverged are producers that are not read from: they gave other rows than another one.
	Diverged []string `json:"diverged"`
}

// OutputStatus is one stream that a fragment produces.
type OutputStatus struct {
	Stream string `json:"stream"`
	// State is starting, stable, upstream_failure, stabilization, failure or ended.
	State string `json:"state"`
	// Since is when the state began, null if it has not changed since the start.
	Since *time.Time `json:"since"`
	Head  Position   `json:"head"`
	// Holding is for how long a bucket has been held beyond when it was due, in seconds.
	Holding float64 `json:"holding_s"`
	// Delay is the age of the last boundary beyond what is normal, in seconds; Bound is the delay accepted under failure, null for stable
	// results only.
	Delay float64  `json:"delay_s"`
	Bound *float64 `json:"bound_s"`
	// Delays counts boundaries by their delay since the fragment started.
	Delays DelayCounts `json:"delays"`
	// TentativeRows have been given since the fragment started; Missing are the inputs that lack now.
	TentativeRows uint64         `json:"tentative_rows"`
	Missing       []MissingInput `json:"missing"`
	// Redo is how long the last correction took, in seconds; 0 if there was none.
	Redo float64 `json:"redo_s"`
	// Anew is how results of best effort, which are not corrected, get stable again.
	Anew Anew `json:"anew"`
	// Bytes of the Limit are held in memory until subscribers acknowledge them, SpilledBytes of the SpillLimit on disk.
	// SpareBytes in memory are acknowledged already, and kept for readers that are not waited for, such as a tail.
	Bytes        int64 `json:"bytes"`
	Limit        int64 `json:"limit_bytes"`
	SpareBytes   int64 `json:"spare_bytes"`
	SpilledBytes int64 `json:"spilled_bytes"`
	SpillLimit   int64 `json:"spill_limit_bytes"`
	// SpillFailure is why nothing more can be put on disk; "" if it can.
	SpillFailure string       `json:"spill_failure"`
	Subscribers  []Subscriber `json:"subscribers"`
}

// Phases of results of best effort.
const (
	PhaseNone       = ""           // they are not of best effort
	PhaseWhole      = "whole"      // nothing is tentative
	PhaseLacking    = "lacking"    // input is missing, or not complete again
	PhaseConverging = "converging" // it is complete, and results are stable again from Begins on
	PhaseFollowing  = "following"  // another replica goes on with stable results, and this one makes up for what it missed
)

// Anew is how results of best effort fare.
type Anew struct {
	Phase string `json:"phase"` // whole, lacking, converging or following; "" of other queries
	// Span is for how long results depend on a row of their input, in seconds of stream time: so long they stay tentative behind a
	// failure, at least.
	Span float64 `json:"span_s"`
	// Complete is up to where the input is complete, and Needed up to where it has to be before results can begin anew; null unless they
	// lack something.
	Complete StreamTime `json:"complete"`
	Needed   StreamTime `json:"needed"`
	// Begins is where results are stable again while they converge, and else where they have begun anew; null if they have not.
	Begins StreamTime `json:"begins"`
	// Times is how often results have begun anew since the fragment started. What was tentative from GapFrom up to GapTo stayed so the
	// last time, for the Reason.
	Times   uint64     `json:"times"`
	GapFrom StreamTime `json:"gap_from"`
	GapTo   StreamTime `json:"gap_to"`
	Reason  string     `json:"reason"`
}

// DelayCounts counts boundaries by their age.
type DelayCounts struct {
	// UpTo are the limits in seconds, rising. Boundaries are counted at the first limit that they do not exceed; there is
	// one count more than limits.
	UpTo       []float64 `json:"up_to_s"`
	Boundaries []uint64  `json:"boundaries"`
	Sum        float64   `json:"sum_s"`
}

// MissingInput is an input whose absence makes results tentative.
type MissingInput struct {
	Stream string `json:"stream"`
	// Since is the stream time from which on it lacks.
	Since StreamTime `json:"since"`
}

// SinkStatus is where results of a query leave on this node.
type SinkStatus struct {
	Output    string `json:"output"`
	Stream    string `json:"stream"`
	Connected bool   `json:"connected"`
	// Producer is the node that it is read from; "" if there is none.
	Producer string `json:"producer"`
	Cause    string `json:"cause"` // why not connected
	// State is that of the stream as its producer says, one of those of OutputStatus, "" while it has said nothing; Since is
	// when the sink heard so first.
	State string     `json:"state"`
	Since *time.Time `json:"since"`
	// Failure is what keeps the sink from taking rows; "" if nothing does.
	Failure string `json:"failure"`
	Rows    uint64 `json:"rows"` // stable ones delivered since the node started
	// Tentative rows delivered since the node started, to a sink that marks them.
	Tentative uint64 `json:"tentative"`
	Gaps      uint64 `json:"gaps"` // stretches of the stream that are lost
	// At is what the sink has taken, Committed what it has made durable.
	At        Position `json:"at"`
	Committed Position `json:"committed"`
	// Diverged are producers that are not read from: they gave other rows than another one.
	Diverged []string `json:"diverged"`
	Done     bool     `json:"done"` // the stream has ended, and the sink has all of it
}

// DeployResult is the answer to a deployment.
type DeployResult struct {
	Query string `json:"query"`
	ID    string `json:"id"`
	Term  uint64 `json:"term"`
	Epoch uint64 `json:"epoch"`
	// Changed is false if the same content runs already.
	Changed     bool         `json:"changed"`
	Warnings    []Problem    `json:"warnings"`
	Assignments []Assignment `json:"assignments"`
}
