// Package dcaa holds the pure core of availability: what a fragment replica decides and remembers about its neighbours.
// It has no goroutine, no clock and no I/O; events and the time go in, effects come out, and the node's shell performs
// them.
//
// [OutputBuffer] is the first part: the frames of one output, kept until every counted downstream neighbour has
// acknowledged them, so that a neighbour that reconnects or restarts goes on without loss or repeat.
//
// Source: Balazinska, Balakrishnan, Madden, Stonebraker: Fault-tolerance in the Borealis distributed stream processing
// system, ACM TODS 33(1), 2008, section 8 (buffer management).
package dcaa
