// Package ingest decides, once and for all, what becomes of each row that enters at a source: its id, its stime, whether
// it is late or ahead of its time, and which boundary follows. Everything that could differ between two replicas or two
// runs is decided here, from earlier records only, and logged by the source proxy; replay repeats it.
//
// [Decider] is pure: rows, clock readings and connector states go in, a [Commit] comes out. One Decider belongs to one
// goroutine.
package ingest
