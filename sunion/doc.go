// Package sunion holds the two guards of a fragment: [SUnion] at its inputs, which puts tuples into an order that
// depends on the tuples alone, and [SOutput] at its outputs, which numbers results.
//
// # SUnion
//
// Stream time is cut into buckets of a fixed size d: bucket k holds stime in [k·d, (k+1)·d). A bucket is stable when
// every input has a boundary at or past its end. Released rows are ordered by (stime, input index, id): by the tuples
// only, never by arrival. Where what follows does not care for order, SUnion hands on the rows of a bucket as ranges of
// the batches they came in, and nothing is copied. Otherwise the rows of a batch are laid end to end as they came, and
// their order is the batch's selection: only the columns that what follows reads are ever put in order.
//
// SUnion never decides to wait or to go on: [SUnion.Stable] says how far the input is complete, and its owner (the
// fragment loop, and through it the availability automaton) calls [SUnion.Release].
//
// # SOutput
//
// SOutput gives each result its id, consecutive within a generation, and turns borrowed batches into owned frames. Two
// replicas of a fragment, or one that restarted from a snapshot, number the same results alike.
//
// Both belong to one goroutine; neither has a clock or does I/O.
//
// Source: Balazinska, Balakrishnan, Madden, Stonebraker: Fault-tolerance in the Borealis distributed stream processing
// system, ACM TODS 33(1), 2008, sections 4 and 5 (SUnion, SOutput, boundary tuples).
package sunion
