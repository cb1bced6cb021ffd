// Package scenario reads and runs readable assertions about a testnet: faults and waits as steps, and what has to hold
// within a time, at every time, and at the end.
//
//	# A replica is killed and comes back.
//	testnet replicated.toml
//	wait 5s
//	kill core#2
//	within 10s: query watch is stable
//	restart core#2
//	never: a stable row is undone
//	finally: the stable stream equals an undisturbed run
//	finally: longest delay <= 3.3s
//
// [Parse] reports every mistake of a file at once, with its place. [Run] starts the testnet that the file names, or takes
// one that runs, follows the query's first output as a client does that wants the latest results, and reports what it
// measured and what did not hold.
//
// An undisturbed run is what one process makes of all the rows that the live sources wrote, in the order of their time.
package scenario
