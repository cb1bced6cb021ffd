// Package postgres is the connector for PostgreSQL 15 and later: a sink, no source.
//
// # Once and in order
//
// What is written between two commits of the client proxy is one transaction: the rows, and the position in
// fednode_positions, a table beside the target with one row a sink. So after a crash at any moment the position says
// exactly which rows are there, and going on from it neither loses nor repeats one. Nothing is acknowledged upstream before
// the transaction has been committed, with synchronous_commit at least local.
//
// The sink's state in the node's store is a claim, a random number drawn once a deployment, and the position committed last. It
// is stored before anything is written. A row of fednode_positions with another claim is of a former deployment, if this
// one has written nothing: then it is taken over, and begins anew. If this one has written, somebody else has taken its
// place. Within one deployment an epoch counts the lives of the sink; a transaction begins by locking the row and comparing
// both. The older of two writers thus fails at its next transaction, with a [connect.LastingError] that is final.
//
// # Keys
//
// Without a key rows are appended. With one, a stable row replaces the row of its key: the table is, at each commit, what
// the stable rows up to the position leave when each in turn is put at its key.
//
// With tentative = "tag" or "write" the table shows tentative rows too. Let S be the stable rows up to the position, and T
// the tentative rows that no undo or done has named since, both in the order in which they came. At each commit
//
//	table = S put at their keys, then T put at theirs.
//
// The rows of T are remembered in TABLE_fednode_tentative, and with them, for each of their keys, the row that S alone
// leaves there, or that there is none. A stable row for such a key changes only what is remembered. When the last
// tentative row of a key is void or replaced, what is remembered is put back, or the key is deleted. A life of the sink
// begins by voiding all that the life before has left, and so does one that is declared without tentative rows.
//
// With "tag" the table has two columns more, as a tagged file has: _state is stable or tentative, _stime the row's stime.
//
// # Types
//
// See columnTypes. Every value of a type is held without loss, but for text with a NUL or invalid UTF-8, and timestamps
// before 4713 BC, which PostgreSQL does not have: such a row is an error that names it, unless text = "replace" puts U+FFFD
// in the place of what is wrong in a text.
//
// # What it leaves out
//
// It alters no table and drops none. Tables are created where there are none, unless create = false.
package postgres
