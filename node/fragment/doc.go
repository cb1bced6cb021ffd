// Package fragment runs one fragment: it subscribes to the fragment's inputs, orders them in SUnions, pushes complete
// buckets through the operators, numbers the results and keeps them until they are acknowledged. Every few seconds, at a
// bucket boundary, it stores a recovery point, and only what such a point covers is acknowledged upstream: a restart
// goes on from the point, and neither loses nor repeats a tuple.
//
//	r, err := fragment.Open(cfg)    // restores the newest usable recovery point, starts nothing
//	err = r.Run(ctx)                // until ctx ends; a last point is stored on the way out
//
// One goroutine owns the SUnions, the operators and the outputs' numbering; one more a stream pulls its inlet, and one
// stores recovery points. Lock order: Runner.mu is taken alone.
package fragment
