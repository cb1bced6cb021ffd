// Package dcaa holds the pure core of availability: what a consumer decides and remembers about the replicas it reads, and
// a producer about those that read it. It has no goroutine, no clock and no I/O; events and the time go in, effects come
// out, and the node's shell performs them.
//
//   - [Intake] is one stream as its consumer holds it: the replica it is read from, the stable prefix P and the tentative
//     suffix Q. The tuples that count go to a [Taker].
//   - [Wait] and [Settings] say since when a bucket could have been complete, and until when it is held.
//   - [Permission] decides when a replica may redo at full speed.
//   - [OutputBuffer] keeps the frames of one output until every counted downstream neighbour has acknowledged them, and
//     those of the open run; [Dispensable] says which neighbours need not be waited for.
//
// Package node/replica puts them together around the operators of a fragment.
//
// Source: Balazinska, Balakrishnan, Madden, Stonebraker: Fault-tolerance in the Borealis distributed stream processing
// system, ACM TODS 33(1), 2008.
package dcaa
