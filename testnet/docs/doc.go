// Package docs holds the project's documentation to what the program does: the parts of docs/ that are generated are
// fresh, links lead somewhere, every command that is shown exists, the examples of query files are valid, and the
// tutorial is run from beginning to end. It has tests only.
//
//	go test ./testnet/docs -rewrite     # writes docs/operators.md and docs/functions.md anew
package docs
