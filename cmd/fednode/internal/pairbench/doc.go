// Package pairbench measures what passes from one daemon to another: two processes on loopback, each with keys, a node
// file and a store of its own in a new directory. The source proxy of one, with its durable log, exports a stream; a query
// of the other gives it to a client proxy.
//
// The daemons are the real ones but for the connector of [Kind]: a source that never waits and a sink that never works, so
// that nothing but what lies between them is measured.
package pairbench
