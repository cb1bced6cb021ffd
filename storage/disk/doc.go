// Package disk holds what every durable part needs from the file system: one lock a directory, small values replaced
// atomically in place, preallocated files, a free-space reserve, and errors sorted by what the caller can do.
//
// # Errors
//
// [Wrap] sorts the errors of the operating system into classes, to be matched with errors.Is:
//
//   - [ErrFull]: no space or quota left. What is stored stays readable; writing goes on by itself when space returns.
//   - [ErrReadOnly]: the file system or its permissions refuse writing.
//   - [ErrLocked]: another process uses the directory.
//   - [ErrDamaged]: stored bytes are not what was written. Evidence is kept, never deleted.
//   - [ErrTransient]: worth trying again after a while.
//
// Values are written with positioned writes, never through a memory map: a full disk is then an error instead of a
// signal that ends the process.
//
// The package has no goroutine. [Lock], [Register] and [OSFile] belong to one owner each; [Measure] may be called
// from anywhere.
package disk
