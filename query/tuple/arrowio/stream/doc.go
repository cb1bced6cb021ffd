// Package stream encodes the batches of one subscription as one Arrow IPC stream, cut into chunks that travel in frames,
// and decodes it on the other side. Any Arrow reader understands the chunks laid end to end (up to a restart, below).
//
// Strings, bytes and addresses travel as dictionary codes: one append-only dictionary a column, starting empty, its
// growth sent as deltas before the rows that need it; only values of rows that are sent are in it. A column whose
// dictionary would pass tuple.DictMaxValues or tuple.DictMaxBytes goes plain for the rest of the subscription: the
// encoder then restarts the stream with a new schema message and empty dictionaries. The encoding never shows: the
// decoded rows are the same whatever the cuts, dictionaries and compression.
//
// The codec is our own rather than the general one, for two reasons. The decoder faces other organisations, so each
// length, offset, code and count is checked against the bytes at hand before it is used, with an error that says what is
// wrong; nothing recovers from panics. And a batch costs a few allocations: word columns are copied once on the way out
// and not at all on the way in, where a batch keeps the frame's memory.
//
// Only little-endian processors are supported: [NewEncoder] and [NewDecoder] fail on others.
//
//	enc, _ := stream.NewEncoder(schema, stream.None)
//	err := enc.Load(batch)
//	for enc.Pending() > 0 {
//		n, _ := enc.Fit(256<<10)
//		chunk, err = enc.Append(chunk[:0], n)
//	}
//
// Encoder and Decoder belong to one goroutine each; decoded batches are owned.
package stream
