// Package tuple is the vocabulary every other package speaks: types and schemas, columnar batches, dictionaries,
// stream time, and the frames that flow between operators, fragments and nodes.
//
// A stream is a sequence of tuples of one [Schema]. Tuples travel in a [Batch]: plain typed slices, one [Column] a
// field, with the stime of each row beside them. Frames give batches their meaning: the tuple type is a property of
// the [Frame], so a row carries no tag.
//
// # Ownership
//
// Two regimes, and every function that takes or gives a batch says which:
//
//   - owned: immutable from the moment it is handed over; anyone may keep it (frames, logs, buffers, SUnion);
//   - borrowed: valid only until the call that received it returns (everything an operator emits), so that operators
//     can reuse their output buffers. A receiver that keeps a borrowed batch copies it with [Batch.Clone].
//
// Neither is ever modified by its receiver.
//
// # Concurrency
//
// Owned batches and [Dict] snapshots may be read by any number of goroutines. Builders ([DictBuilder],
// [BatchBuilder]) belong to one goroutine.
//
// The package has no clock, no goroutine and no I/O, and imports the standard library only; the Arrow edge lives in
// query/tuple/arrowio.
package tuple
