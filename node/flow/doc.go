// Package flow is how streams move inside a node: what a node produces is a [Stream], whoever consumes one holds a
// [Cursor]. Producers are source proxies and fragment outputs; consumers are fragments, client proxies and the senders
// that serve other nodes. A cursor is pulled, so a slow consumer holds back only itself.
//
// [Network] is how consumers reach producers, wherever they are, and hear how their nodes fare.
//
// [Output] is the stream of a fragment's output, over the buffer of package dcaa. Streams are safe for concurrent use;
// a cursor belongs to one goroutine.
package flow
