// Package op holds the stream operators. Each kind is declared by one entry of the table in kinds.go: how its
// declaration is read and typed, and how an instance is made.
//
// An [Operator] is a pure function of its ordered input and its state: no clock, no randomness but by hash, no map
// order, and the same output for every way of cutting the input into batches. Instances belong to one goroutine, which
// drives them through Process and Boundary. The conformance suite in optest holds every kind to these rules.
//
// Batches that an operator receives and emits are borrowed (see package tuple): valid until the call returns.
package op
