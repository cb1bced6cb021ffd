// Package host is what stands between the program of a simulated node and the world: sessions with peers and the watch
// over them, heartbeats, subscriptions with credit, acknowledgements, and the serving of output buffers. It is to the
// simulator what node/p2p, node/link and node/flow are to a daemon, with the same rules and in a fraction of the size:
// messages are structs, and nothing is ever late but by decision of the seed.
//
// What a node does is an [Actor]: a source proxy, a replica of a fragment, a client.
package host
