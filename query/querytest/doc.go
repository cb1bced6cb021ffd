// Package querytest runs query plans in memory for tests: rows written as text go in, and every result comes out as one
// line.
//
// [Run] runs all fragments of a plan on the caller's goroutine, with real SUnions and SOutputs between them and no network,
// clock or disk. [Feed] is what the sources send. A [Variant] says how rows are cut into batches, in which order streams
// arrive, and whether instances are replaced by their snapshots or forks between buckets: the results must be the same
// for all of them, and [Variants] lists them.
package querytest
