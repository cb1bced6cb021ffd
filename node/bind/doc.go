// Package bind ties the streams and outputs that queries and node files declare to connectors: it checks a declaration's
// own keys with the connector's kind, and keeps what is needed to open it.
//
// A [Connectors] serves one parse of one file and belongs to one goroutine; the plans it collects are immutable.
package bind
