// Package relay is the network between the nodes of a testnet, with faults: every way from one node to another can be cut,
// delayed and made lossy while it is in use.
//
// There are two. [Streams] forwards TCP connections between processes on loopback: each node announces a port of the
// relay instead of its own. [Switch] forwards IP packets between network namespaces, each of which has one device whose
// other end the relay holds. Both read the state of a way from one [Table].
//
// Neither needs a tool or a kernel module beyond TUN devices: a queueing discipline for delay and loss (netem) is missing
// from many kernels. Nothing of a relay outlives its process: sockets, devices and namespaces end with it, even if it is
// killed.
//
// What is cut is silent, not refused: bytes wait, packets are lost, connections that are begun wait for the way to heal.
// On a stream loss shows as what TCP makes of it, a wait until the segment is sent again.
//
// A relay may be used by any number of goroutines. [Streams.Close] and [Switch.Close] return when all of its own have
// ended.
package relay
