// Package flat reads FlatBuffers tables from untrusted bytes. Every access is checked against the buffer; the first
// bad one is remembered and turns all later answers into zeros, so that a caller checks once, at the end.
//
// Generated FlatBuffers code trusts its input: it panics outside the buffer and, since positions may wrap around, can be
// led in circles. Here references must point forward, so a walk always ends.
package flat
