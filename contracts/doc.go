// Package contracts holds the terms that two organisations agree on before either needs the other: money, prices, what may
// run for whom and how much of it.
//
// [Read] makes [Terms] of a TOML file, with every error of the file at once. [Encode] gives their canonical bytes, which
// both parties come to whatever their files look like, [IDOf] the hash that names them, and [Decode] reads such bytes from
// a partner. [Terms.Clauses] says of each clause how it holds. The package is pure.
package contracts
