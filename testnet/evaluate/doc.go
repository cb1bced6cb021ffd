// Package evaluate measures what failures cost: how late new results become, how many are tentative, and how long it takes
// until all are correct again. `fednode testnet evaluate` prints what it finds.
//
// An [Experiment] asks one question. Its panels are made of cells, each a federation with what fails in it. [Grid] lists
// all of them; [Evaluation] runs them in the deterministic simulator (testnet/sim), which also checks every promise
// on the way. So a figure is the same on every machine, and the same seed gives it again. [Targets] sets the figures beside
// what they should be; package evaluatepage of the command draws them.
//
// # What is measured
//
// The delay of a row is the time from when it comes to be to when the client first has what follows from it, stable or
// tentative. Incremental is what a failure adds to the longest delay without one. New rows are those that have a way to the
// client: the rows that a source cannot send while it is cut off are not, and reach the client as corrections.
package evaluate
