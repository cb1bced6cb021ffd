// Package query holds query diagrams: what a query file declares, how a diagram is cut into fragments, how a fragment
// pushes batches through its operators, and what can be said about all of it before anything runs.
//
//   - [Parse] turns a file into a typed [Diagram] and reports everything wrong with it at once;
//   - [NewPlan] cuts a diagram into [FragmentPlan]s with their SUnions, inputs and outputs;
//   - [NewInstance] makes a fragment run: [Instance.Process] and [Instance.Boundary] push what the SUnions hand on through
//     the operators on the caller's goroutine, and results come out of an [Out];
//   - [Instance.ForkAffected] copies what is downstream of failed inputs, to go on tentatively while the instance waits;
//   - [Explain] prints a plan.
//
// # Concurrency
//
// Diagrams and plans are immutable once made and may be shared. An Instance belongs to one goroutine, and so do
// its forks.
//
// # What it leaves out
//
// The package has no goroutine, clock, disk or network. Connectors are the node's: a diagram keeps their own keys and
// asks a [Connectors] to check them. SUnion and SOutput are made by the node from what the plan says of them.
package query
