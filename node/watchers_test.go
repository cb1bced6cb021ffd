package node

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/flow"
)

// TestNewsInOrder shows that who begins to watch a node while it goes down does not hear last of all that it is up.
func TestNewsInOrder(t *testing.T) {
	s := newStreams("north", nil, time.Now)
	s.peerUp("p", "north", "n2")
	w := &watchers{self: "north/n1", list: new(listeners)}
	down := make(chan struct{})
	met := false
	w.rtt = func(peer.ID) time.Duration { // while the news that it is up is made
		if met {
			return 0
		}
		met = true
		go func() {
			defer close(down)
			s.peerDown("p")
			w.changed(s, "north", "n2")
		}()
		select {
		case <-down: // the news that it is down has been told; else it waits for ours
		case <-time.After(50 * time.Millisecond):
		}
		return 0
	}
	box := flow.NewNewsBox()
	stop := w.add(s, []string{"north/n2"}, box.Note)
	defer stop()
	<-down
	if news := box.Take(); len(news) != 1 || news[0].Up {
		t.Fatalf("the last news is %+v, want that the node is down", news)
	}
}
