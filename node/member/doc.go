// Package member knows which nodes of the own organisation are alive: gossip by memberlist, its traffic over the
// node's libp2p connections, so that it needs no port and no secret of its own and only certified nodes of the
// organisation take part. Between organisations there is no gossip; there the sessions of package p2p say who is up.
//
// # Use
//
//	m := member.New(cfg, network, member.Self{…}, handler, log)
//	m.Seed(ids...)          // whom to ask first; asked again as long as they are not members
//	err := m.Run(ctx)       // until ctx ends; then leaves in good order
//	nodes := m.Members()
//
// A member's name is its node's name, its identity the peer id; its addresses are gossiped, so that a node needs to
// know one other to find all.
//
// # How it runs on libp2p
//
// memberlist names a node by its peer id and addresses it by an IPv6 address of fd00::/8 hashed from that id, which is
// never dialled. Packets go over one long stream per peer, best effort: a full queue drops, a slow write ends the
// stream. Its streams are libp2p streams.
//
// # Concurrency
//
// Members may be called from any goroutine. Handler is called from one goroutine, and may call back. memberlist itself
// decides by its own timers who is dead; for failover within a second the heartbeats of package p2p are there.
package member
