// Package local runs a query in this process on bounded input until it ends: no daemon, no log, no network. Rows take
// the same way as in a federation, through the same decisions at the source, the same SUnions, operators and sinks, so
// the results are the same.
//
//	report, err := local.Run(ctx, plan, local.Options{...})
//
// Each source is decoded on a goroutine of its own; one goroutine does the rest. Memory is bounded by the operators'
// state and Options.MemoryBytes. Rows that may stand in any order, with no promise before their end, go to operators
// that need no order as they come, as long as the state that this builds up fits. Otherwise they are put in order first,
// in sorted runs on disk if they are many, and windows close as they pass. Results are the same either way.
package local
