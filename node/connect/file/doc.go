// Package file is the connector for files: a source that reads files to their end or follows one that grows, and sinks
// that write a result as a whole or append to it for ever.
//
// # Sources
//
// path is a file, a directory, a pattern (*, ?, [..] and ** for any depth) or a list of those; files are read in the
// order of their paths as bytes, and a pattern that matches nothing is an error. "-" is standard input. Files may be
// compressed with gzip or zstd; their first bytes tell.
//
// A bounded source reads every file to its end. What goes wrong with one file (it is gone, replaced while it is read,
// cut or damaged) is told in the status at the end, and the other files are read nevertheless.
//
// With follow = true one file is followed for ever. Its identity is the content just before the place that has been
// read, not its inode: so a file that was renamed, copied and truncated, or replaced is recognised, while the source
// runs and after a restart. What was written to it before it was rotated is read from where it is now, as long as it
// lies uncompressed beside the path under a name that begins with it.
//
// # Sinks
//
// A bounded sink writes PATH.part and renames it at Finish, so that PATH is always a whole result. A live sink appends
// to PATH; Commit makes it durable, and Recover cuts what came after. A file that is there before a live sink's first
// commit is kept as PATH.old-1, PATH.old-2 and so on. The path "-" is standard output, which cannot take anything back.
//
// With tentative = "tag" a file has two columns before those of the stream: _state and _stime. A row is stable or
// tentative; a row undo voids the tentative ones above it with a stime from its own on, and a row done says that those with
// a stime before its own have been replaced by the stable rows above it. Without a _stime they mean all.
package file
