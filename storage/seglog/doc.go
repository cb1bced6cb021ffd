// Package seglog is a durable append-only log: preallocated segment files of checksummed records, one synced write for
// many concurrent appends, and readers that find a key, iterate and follow the tail.
//
//	log, recovery, err := seglog.Open(dir, seglog.Options{})
//	first, err := log.AppendSync(ctx, seglog.Entry{Key: lastID, Time: stime, Payload: bytes}) // durable on return
//	r, err := log.Reader(seglog.Position{Generation: generation, Key: firstID})
//	rec, err := r.Next(ctx) // waits at the tail
//	_, err = log.TruncateBefore(seglog.Position{Generation: generation, Key: acknowledged + 1})
//
// # What it promises
//
// An entry is the unit of atomicity: after a crash it is there whole or not at all. What [Log.AppendSync] or
// [Commit.Wait] has acknowledged is there after any crash of the process, and of the machine as far as fdatasync holds.
// A reader sees durable records only, so nothing that was sent on can be lost by a crash afterwards. No wrong payload is
// ever returned.
//
// # Damage
//
// [Open] recovers by itself and says what it found in [Recovery]. Records carry how far the log was durable when they
// were written; that tells a torn tail (cut: nobody was told it is stored) from damage in the middle (reported with the
// keys around it, and skipped). Nothing is deleted on recovery: cut bytes stay in their segment, which is closed, and
// files that are no segments of this log are renamed and kept.
//
// # Full disk
//
// A write that fails loses exactly the entries whose callers get the error; the segment is closed at its durable end
// and the next append begins a new one. So appending goes on by itself when space returns, and reading never stops.
//
// # Concurrency
//
// A [Log] may be used by any number of goroutines. A [Reader] belongs to one at a time. The package starts no goroutine:
// one of the waiting appenders does the write for all. One process at a time may open a directory.
//
// The layout of the files is docs/formats/segment.md.
package seglog
