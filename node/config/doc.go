// Package config reads a node's file, node.toml: strict, every problem at once with its place. [Read] checks all that can
// be known without touching anything outside the file and its key files; `fednode run --check` does no more than that and
// opening what the node needs.
//
// Defaults are complete: a minimal file names the organisation and the node.
package config
