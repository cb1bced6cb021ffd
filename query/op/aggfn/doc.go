// Package aggfn holds the aggregate functions: count, sum, avg, min, max, stddev, first, last, the distinct counts, top_k,
// quantile and collect. [Resolve] checks a call and types it; a [Func] makes [Acc]s, the accumulators of one function over
// the slots of one window (or of one slice of windows).
//
// Rules, for every function:
//
//   - nulls are skipped before an accumulator sees them; the caller counts them;
//   - results are exact or rounded once: integers and decimals are summed in 128 bits and only a final value out of range
//     is null, products of floats are rounded before they are added, so that processors agree;
//   - a function is order-insensitive when its result depends on the multiset of values alone.
package aggfn
