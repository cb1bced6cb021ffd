package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// BenchmarkHeartbeat measures what one heartbeat of a peer with 2,048 streams costs, when 100 fragments watch three of 20
// peers each.
func BenchmarkHeartbeat(b *testing.B) {
	s := newStreams("north", nil, time.Now)
	w := &watchers{self: "north/n1", list: new(listeners), way: func(peer.ID) dcaa.Way { return dcaa.Way{RoundTrip: 1000, Calm: 1000} }}
	for p := range 20 {
		s.peerUp(peer.ID(fmt.Sprintf("p%02d", p)), "south", fmt.Sprintf("s%d", p))
	}
	for f := range 100 {
		box := flow.NewNewsBox()
		names := []string{fmt.Sprintf("south/s%d", f%20), fmt.Sprintf("south/s%d", (f+7)%20), fmt.Sprintf("south/s%d", (f+13)%20)}
		defer w.add(s, names, box.Note)()
	}
	said := make([]wire.StreamStatus, 2048)
	for k := range said {
		said[k] = wire.StreamStatus{Name: fmt.Sprintf("south/stream%04d", k), State: wire.StreamState(dcaa.Stable), Boundary: tuple.Time(k), Generation: 1}
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		p := n % 20
		s.heard(peer.ID(fmt.Sprintf("p%02d", p)), said)
		w.changed(s, "south", fmt.Sprintf("s%d", p))
	}
}
