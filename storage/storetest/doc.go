// Package storetest is the suite that every implementation of [storage.DB] passes: one line in its test,
//
//	storetest.Run(t, func(t *testing.T) storage.DB { return memstore.New() })
//
// and what is built on stores is checked on each of them: recovery points, positions and documents.
package storetest
