package sim

import (
	"fmt"

	"fednode/dcaa"
	"fednode/testnet/sim/world"
)

// asks takes in that a consumer asks a producer for a stream, leaves that it wants no more of a connection.
func (r *Run) asks(id, producer world.NodeID, stream int32, o *dcaa.Opening) {
	if r.trace != nil {
		r.trace.line(r.w.Now(), "ask", r.name(id), "of", r.name(producer), "stream", r.top.Streams[stream].Name, "conn", fmt.Sprint(o.Conn), "from", o.From.String())
	}
	r.changes.asked(id, producer, stream, o)
}

func (r *Run) leaves(id world.NodeID, stream int32, conn uint64) {
	r.changes.closed(id, stream, conn)
	if r.trace != nil {
		r.trace.line(r.w.Now(), "leave", r.name(id), "stream", r.top.Streams[stream].Name, "conn", fmt.Sprint(conn))
	}
}

// reaches takes in that a node can or cannot talk to another, as it sees it.
func (r *Run) reaches(id, peer world.NodeID, up bool) {
	if r.trace != nil {
		r.trace.line(r.w.Now(), upOrDown(up), r.name(id), "of", r.name(peer))
	}
	r.changes.reaches(id, peer, up)
	r.health.reached(id, peer)
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}
