// Package p2p is the node's network: a libp2p host that only members can connect to, one control session per pair of
// peers, and data streams with credit.
//
// # What it promises
//
// A peer is up when its hello was accepted, not when a connection exists. Handler.PeerUp comes before, and
// Handler.PeerDown after, everything else about a session; of one peer there is at most one session. While a peer is up
// its heartbeats arrive; when they stop it is down with the cause, and up again with the next byte, until it has been
// silent so long that the connection is given up and made anew. Garbage on the port, an oversized frame, an unknown
// protocol or an unknown peer ends that connection and nothing else.
//
// # Use
//
//	h, err := p2p.New(cfg, p2p.Identity{…}, registry, handler, log)
//	go h.Run(ctx)                       // listens, dials, keeps sessions; returns when all has ended
//	h.Dial(p2p.Target{…})               // keep a session with this peer
//	err = h.Send(id, kind, payload)     // queued; ErrQueueFull, ErrNotUp
//	s, err := h.OpenData(ctx, id, header)
//
// # On the wire
//
// Control stream, /fednode/control/1: frames of a 12-byte header (u32 length of payload, u8 version, u8 kind, u16 flags,
// u32 CRC-32C of the payload and of the header's bytes 4 to 8; little-endian) and a payload of at most 1 MiB. The first
// frame each way is a hello with a range of protocol versions; the highest that both speak is used. Kinds below
// [FirstAppKind] belong to this package, the others to the caller. The peer with the smaller id opens the control stream,
// whoever dialled.
//
// Data stream, /fednode/data/1: u32 length and a CBOR map (1: number, 2: the caller's header), then the caller's bytes.
// The number names the stream in credit messages, which travel on the control stream.
//
// # Concurrency
//
// A [Host] may be used by any number of goroutines. Run owns one goroutine per peer and three per session (read, write,
// watch); each ends with its session, and Run waits for all. Locks: Host.mu, then link.mu, then session.mu; no callback is
// made under one. Callbacks of one peer come one after the other, and must not block: while one runs, nothing more
// is read from that peer.
package p2p
