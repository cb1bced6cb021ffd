// Package export enforces what may leave an organisation: which streams, to whom, which rows and columns, in which form.
// Nothing leaves without an [Export] that says so; the check is made where the stream is produced, before anything is
// sent.
//
// An export changes neither ids nor stimes: rows that are held back leave no row, and the frame says which ids the others
// have, so that a subscriber resumes at the producer's own positions and the producer keeps no state for it. What a
// partner learns by this is how many rows were held back; docs/adr/0003 weighs that.
//
// Pseudonyms are pseudonymisation, not anonymisation: whoever holds the key can try all addresses.
//
// An [Export] is immutable and may be shared; a [View] applies it for one subscription and belongs to one goroutine.
package export
