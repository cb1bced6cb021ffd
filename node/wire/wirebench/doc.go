// Package wirebench measures the wire codec as `fednode bench wire` reports it: connection records encoded and decoded in
// one process and over a loopback connection, each against the same columns copied as raw bytes over the same pipe, in
// turns, medians of the rounds.
//
// Dictionaries are warm after the first batches, as on a subscription that has run for a while; the first batches count.
package wirebench
