package scenario

import (
	"time"

	"fednode/query/spec"
	"fednode/testnet"
)

// Scenario is a file of assertions.
type Scenario struct {
	// Name is the file's, without folder and extension; Title is its first comment.
	Name, Title string
	// Testnet is the file of the testnet to start; "" for one that runs.
	Testnet string
	Steps   []Step
	// Never must not hold at any time; Finally must hold at the end.
	Never, Finally []Condition
}

// Step is one line that is done in its turn: exactly one of Wait, Fault, Within and Recount is set.
type Step struct {
	Pos  spec.Pos
	Text string
	// Wait lets time pass.
	Wait time.Duration
	// Fault is done; its targets may be roles.
	Fault *testnet.Fault
	// Within waits so long for a condition.
	Within time.Duration
	Until  *Condition
	// Recount counts changes of replica from here on.
	Recount bool
}

// The kinds of conditions.
const (
	queryIs     = "query"    // an output of a query is in a state
	nodeRuns    = "runs"     // a node, or every node, runs
	nodesMet    = "met"      // all nodes that run have sessions with each other
	rowUndone   = "undone"   // a stable row was taken back, repeated or came out of its order
	streamEqual = "equal"    // the stable results are those of an undisturbed run
	streamPart  = "part"     // they are a part of those, up to the end
	measure     = "measured" // a measured value compares with a bound
)

// Condition is something that holds or does not.
type Condition struct {
	Pos  spec.Pos
	Text string

	kind string
	// Of queryIs: the query, its state, and the node, "" for any or all of them.
	query, state, node string
	// Of measure: what is measured, how it compares, and with what: seconds or a number.
	name, compare string
	bound         float64
}

// The measured values.
const (
	longestDelay = "longest delay"
	stabilise    = "time to stabilise"
	tentative    = "tentative rows"
	lost         = "lost rows"
	replicas     = "changes of replica"
	late         = "late rows"
)

// measures lists the measured values; true if they are durations.
func measures() map[string]bool {
	return map[string]bool{longestDelay: true, stabilise: true, tentative: false, lost: false, replicas: false, late: false}
}
