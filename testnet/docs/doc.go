// Package docs holds the project's documentation to what the program does: the generated pages are fresh, links lead
// somewhere, commands and flags that are shown exist, every key and code is explained, messages that are explained exist,
// and the tutorial is run from beginning to end. It has tests only.
//
//	go test ./testnet/docs -rewrite     # writes docs/operators.md and docs/functions.md anew
package docs
