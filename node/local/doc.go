// Package local runs a query in this process on bounded input until it ends: no daemon, no log, no network. Rows take
// the same way as in a federation, through the same decisions at the source, the same SUnions, operators and sinks, so
// the results are the same.
//
//	report, err := local.Run(ctx, plan, local.Options{...})
//
// Each source is decoded on a goroutine of its own; one goroutine does the rest. Memory is bounded by the operators'
// state and Options.MemoryBytes: rows that have to be put in order before their end is known are sorted in runs on disk.
package local
