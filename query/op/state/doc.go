// Package state holds the tables that operators keep their state in. Every table can be snapshot, restored and forked,
// so that an operator only declares its tables and forwards those calls.
//
//   - [Array] is a dense array by slot, the base of all others;
//   - [Interner] numbers binary values densely;
//   - [Groups] numbers keys of several columns densely: an operator's accumulators are arrays by that slot;
//   - [Subset] numbers those slots of a larger table that occur somewhere, such as the groups of one window;
//   - [Distinct] holds an exact set of values for each slot, [Pairs] counts keys for each slot.
//
// # Forks
//
// A fork costs one pointer for every page of [PageSize] entries; afterwards each side copies a page when it first
// changes it. What fills no page is copied at once. A table that has never been forked, or half of whose pages have been copied since, is flat: one slice, which
// kernels read without indirection. Nobody has to say that a fork has ended.
//
// # Snapshots
//
// Slots are numbered by first appearance, so they differ between two inputs that differ only in the order of rows.
// Snapshots therefore name slots in an order the caller gives, normally that of the keys ([Groups.Order]), and their
// bytes depend on the content alone.
//
// Tables belong to one goroutine; two sides of a fork may belong to two.
package state
