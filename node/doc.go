// Package node is the daemon: the only place where the parts meet. [New] wires a node from its configuration and starts
// nothing; [Node.Run] owns every goroutine and returns after all have ended.
//
// A node produces streams (its own sources, and outputs of the fragments it runs), subscribes to those of others over the
// link, runs the fragments that descriptors assign to it, and delivers results to sinks. What must survive a restart is
// in its data directory: source logs, and a store with recovery points, positions, acknowledgements and descriptors.
//
// Lock order: queries.mu, then streams.mu; neither is held while something outside is called.
package node
