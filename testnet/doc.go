// Package testnet runs many nodes together: as real processes, in network namespaces, and (package sim) in one process
// with a simulated network. It also holds the checks that look at the repository as a whole, such as the layers.
package testnet
