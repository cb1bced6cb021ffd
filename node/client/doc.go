// Package client is the client proxy: it stands where results leave. It hides where a stream is produced and over which
// connection it comes, and gives a consumer every stable tuple once and in order.
//
// [Proxy] feeds a sink and keeps the position with the sink's own state, so that a restart neither loses nor repeats a
// tuple there. [Tail] gives a person or a program what comes from now on, or from a place in the stream.
package client
