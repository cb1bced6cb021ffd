// Package configs holds the sample files that ship with fednode: a commented node.toml with every setting, a minimal
// one, the terms of a contract, and queries to start from. The tests load each of them.
package configs
