// Package fault says what goes wrong in a simulated federation and when. A [Plan] is a plain list of timed faults; it is
// drawn from a seed ([Draw]), prints one fault a line, reads back from that ([Parse]), and is made smaller while it still
// shows a failure ([Minimise]).
//
// A line reads: when, what, whom, how much, for how long.
//
//	12.5s crash f1.0 for 3s
//	14s oneway f1.0 f2.1 for 2.2s
//	20s loss s0 f1.0 20% for 10s
//	21s slow f2.1 x40 for 8s
//	30s off f1.1 for ever
package fault
