// Package querytest runs query plans in memory for tests: rows written as text go in, and every result comes out as one
// line.
//
// A [Federation] runs all fragments of a plan in one process, with real SUnions and SOutputs between them and no network,
// clock or disk. [Feed] is what its sources send. [Run] takes a [Variant], which says how rows are cut into batches, in
// which order streams arrive, and whether instances are replaced by their snapshots or forks between buckets: the results
// must be the same for all of them, and [Variants] lists them.
//
// A Federation belongs to one goroutine.
package querytest
