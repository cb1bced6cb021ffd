// Package fragment runs one replica of a fragment: it is the shell around the pure core of package replica. It opens the
// connections that the core asks for, hands it frames, news of other nodes and the time, appends what it emits to the
// outputs, and keeps those until they are acknowledged. Every few seconds, between buckets, it stores a recovery point, and
// only what such a point covers is acknowledged upstream: a restart goes on from the point, and neither loses nor repeats a
// tuple.
//
//	r, err := fragment.Open(cfg)    // restores the newest usable recovery point, starts nothing
//	err = r.Run(ctx)                // until ctx ends; a last point is stored on the way out
//
// One goroutine owns the core; one more a connection pulls frames, and one stores recovery points. Lock order: Runner.mu is
// taken alone.
package fragment
