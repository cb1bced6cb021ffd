// Package p2p is the node's network: a libp2p host that only members can connect to, one control session per pair of
// peers, and data streams with credit.
//
// # What it promises
//
// A peer is up when its hello was accepted, not when a connection exists. Handler.PeerUp comes before, and
// Handler.PeerDown after, everything else about a session; of one peer there is at most one session. While a peer is up
// its heartbeats arrive; when they stop it is down with the cause, and up again with the next byte, until it has been
// silent so long, or answers to a new connection, that the connection is given up and made anew. Garbage on the port, an oversized frame, an unknown
// protocol or an unknown peer ends that connection and nothing else.
//
// # Use
//
//	h, err := p2p.New(cfg, p2p.Identity{…}, registry, handler, log)
//	go h.Run(ctx)                       // listens, dials, keeps sessions; returns when all has ended
//	h.Dial(p2p.Target{…})               // keep a session with this peer
//	err = h.Send(id, &wire.Subscribe{…}) // queued; ErrQueueFull, ErrNotUp
//	s, err := h.OpenData(ctx, id, subscription)
//	w, err := wire.NewWriter(s, schema, wire.WriterOptions{Credit: func(n int) error { return s.Acquire(ctx, n) }})
//
// # On the wire
//
// Who may connect is decided by package admission, while a connection is made. The messages and frames are those of
// package wire.
//
//   - /fednode/control/1, one stream per pair of peers: a hello each way, then messages. The peer with the smaller id
//     opens it, whoever dialled, so that two never exist; a newer one takes the place of an older one.
//   - /fednode/data/1, one stream per subscription, opened by the producer: an attach message, then frames. It starts
//     without credit; the consumer grants its window when it accepts the stream.
//   - /fednode/echo/1: eight bytes come back, to measure the round trip.
//   - /fednode/certificate/1: a renewed certificate, so that a connection outlives the one it was made with.
//
// A heartbeat's HeardBy names the peer it goes to if that peer is heard, and nobody else.
//
// # Concurrency
//
// A [Host] may be used by any number of goroutines. Run owns one goroutine per peer and six per session (read, write,
// watch, knock, measure, tell); each ends with its session, and Run waits for all. Locks, in order: session.judging, Host.mu,
// link.mu, session.mu, inbox.mu. The handler is called with none of them held, so it may call the host.
//
// What the handler has to be told waits in an inbox of [Config].Queue messages and 8 MiB, so that heartbeats are read
// whatever the handler does. When the inbox is full, nothing more is read from that peer until there is room: it is not
// taken for silent meanwhile. After [Config].Abandon without room the session ends with CauseOverloaded.
package p2p
