// Package postgres tests the PostgreSQL sink against a real server: by random sequences of rows with the connection cut
// between any two messages, and with a daemon that is killed while it writes.
//
// Its tests start a server of their own, which hears on a Unix socket in a temporary directory and is gone afterwards. They
// need the programs of PostgreSQL 15 or later: make test-postgres runs them where those are installed, and says so where
// they are not.
package postgres
