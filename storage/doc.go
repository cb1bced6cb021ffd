// Package storage is a node's durable state beside its logs: a small transactional store for positions, recovery points
// and documents, and high-water marks that keep ids from being used twice.
//
//	store, err := storage.Open(dir, storage.Options{})
//	points, err := storage.NewRecoveryPoints(store)
//	err = points.Save(&point, nil)             // one transaction; the two newest are kept
//	point, report, err := points.Load("query/fragment")
//
// Big append-only data lies in package seglog; what both need from the file system is package disk, whose error classes
// ([ErrStorageFull] and so on) every error here carries.
//
// # Parts
//
//   - [DB], [Reader], [Writer]: what a store is. [Store] keeps it in Badger; memstore in memory, faultstore wraps either
//     and fails by rule, storetest is the suite that all of them pass.
//   - keys.go is the only place that builds keys: what is stored has a function here that stores it.
//   - [RecoveryPoints]: what a fragment goes on from after a restart; points above [ChunkBytes] are cut into chunks.
//   - [ClientPosition], [Document]: positions of sinks and clients; descriptors and the like with versions.
//   - [HighWater]: ids reserved ahead.
//
// # Concurrency
//
// A store and RecoveryPoints may be used by any number of goroutines; the function given to Update or View belongs to
// the goroutine that calls it. A HighWater belongs to one. The package starts no goroutine of its own (Badger does, and
// ends them in Close): garbage collection runs in [Store.GC] on the caller's.
package storage
