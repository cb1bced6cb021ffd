// Package memstore is a [storage.DB] in memory: for tests and for nodes that keep nothing. It checks the same limits as
// the durable store. The zero value is not usable; see New.
//
// A store may be used by any number of goroutines. Updates run one after another, beside any number of views, each of
// which sees the state at its begin.
package memstore
