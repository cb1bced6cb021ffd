// Package connect is where records enter and leave: what a connector is, what it is given, and what it delivers.
//
// A [Source] delivers [Block]s: rows in columns, the records that could not be read ([Reject]) in their order among the
// rows, and an opaque position from which a new reader goes on right after the block. A block decides nothing about
// time: Batch.Time is the event time of each row, or zero where the stream's time is its arrival; late, future and
// arrival are the business of the source proxy.
//
// A [Sink] takes rows and makes them durable in steps: Commit returns a state that names a position and what had been
// written by then; Recover goes back to exactly that, so that what is written again appears once.
//
// Connectors are declared by a [Kind]: how its keys are read out of a query file, with every problem recorded at its
// place, and how an instance is made. The table of all kinds is in connect/connectors; the formats of files and bodies
// are in connect/format.
//
// # Concurrency
//
// A reader or a sink belongs to one goroutine. A block is owned by the one who received it.
package connect
