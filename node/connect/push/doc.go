// Package push is the connector for records that come to us: bodies of HTTP requests as JSON lines, CSV, TSV or Arrow.
// The HTTP server is the node's; it decodes a body with [Decode] and hands the blocks to the stream's [Inbox], which is
// also the stream's source.
//
// A push returns when the source proxy has made its rows durable. With an idempotency key a push that is repeated,
// because the answer was lost or the node restarted in between, adds what is still missing and no row twice: the keys
// seen last are part of the source's position, which is stored in one commit with the rows.
package push
