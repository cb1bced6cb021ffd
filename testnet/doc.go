// Package testnet runs a federation on one machine: several organisations, each with daemons of its own, as real
// processes on loopback or in network namespaces. It is for trying things out, and for tests that break what they please.
//
//	net, err := testnet.Up(ctx, testnet.Default(), testnet.Options{})
//	defer net.Close()
//	net.Kill("south")
//	fault, err := testnet.ParseFault([]string{"partition", "east", "for", "3s"})
//	did, err := net.Apply(ctx, fault)
//	view := net.View(ctx)
//
// What nodes say to each other goes through package relay, under the faults in force: a fault is data, and the state of
// every way, source, clock and disk is derived from the list of those in force (waysOf, paused, hauntOf). Scenarios of
// faults with assertions are in package scenario.
//
// A network lives in a directory: for each node its keys, certificate, node.toml, data and log, and net.json, by which
// other processes find the network and ask its owner for faults ([Find], [Control], [Attached]). Two networks never meet:
// each has addresses and keys of its own, and the directory is locked.
//
// The daemons are children of the process that called [Up]. They end with it, even if it is killed.
//
// A [Net] may be used by any number of goroutines. [Up] starts the goroutines that reap children and serve faults;
// [Net.Close] ends them.
package testnet
