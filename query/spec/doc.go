// Package spec holds declarations as users wrote them, each value with its place: the tree that TOML files (and, by
// another front end, SQL) become before anything is made of them, and the problems found in it.
//
// [ParseTOML] reads a file into a [Table]. Readers take keys out of tables with typed getters that record what is wrong
// in a [Problems] and go on, so that one run reports every error of a file. A key nobody asked for is an error with a
// near name: [Reader.Done].
//
// The tree belongs to one goroutine. The package has no I/O.
package spec
