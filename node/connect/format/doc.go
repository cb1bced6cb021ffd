// Package format turns bytes into columns and back: CSV, TSV, JSON lines, Zeek logs and Arrow, and the compression
// around them.
//
// A [Reader] reads one input and fills [Rows]: typed columns that hold only what the stream declares; what else a
// record holds is passed over. A record that cannot be read becomes a [connect.Reject] in its place among the rows and
// never ends the input. Memory is bounded: a record above max_row is passed over without being held.
//
// A [Writer] encodes batches. What a writer wrote, the reader of the same format reads back as the same values.
//
// NUL bytes are ordinary characters of a string; in any other value they are a wrong type.
//
// Nothing here waits, follows or opens files: that is package file's.
package format
