package node

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/wire"
)

// TestNewsInOrder shows that who begins to watch a node while it goes down does not hear last of all that it is up.
func TestNewsInOrder(t *testing.T) {
	s := newStreams("north", nil, time.Now)
	s.peerUp("p", "north", "n2")
	w := &watchers{self: "north/n1", list: new(listeners)}
	down := make(chan struct{})
	met := false
	w.way = func(peer.ID) dcaa.Way { // while the news that it is up is made
		if met {
			return dcaa.Way{}
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
		return dcaa.Way{}
	}
	box := flow.NewNewsBox()
	stop := w.add(s, []string{"north/n2"}, box.Note)
	defer stop()
	<-down
	if news := box.Take(); len(news) != 1 || news[0].Up {
		t.Fatalf("the last news is %+v, want that the node is down", news)
	}
}

// TestLifeBetween shows that a node which went down and came up again while nobody could be told is news of another life,
// and so is an organisation of which nobody was up; one of whom another node stayed up is the same.
func TestLifeBetween(t *testing.T) {
	s := newStreams("north", nil, time.Now)
	w := &watchers{self: "north/n1", list: new(listeners), way: func(peer.ID) dcaa.Way { return dcaa.Way{} }}
	box := flow.NewNewsBox()
	s.peerUp("p", "south", "s1")
	defer w.add(s, []string{"south/s1", "south/*"}, box.Note)()
	anew := func() (node, org bool) {
		w.changed(s, "south", "s1")
		for _, n := range box.Take() {
			if n.Name == "south/s1" {
				node = n.Anew
			} else {
				org = n.Anew
			}
		}
		return node, org
	}
	want := func(what string, node, org bool) {
		t.Helper()
		if n, o := anew(); n != node || o != org {
			t.Errorf("%s: node anew %v, organisation anew %v; want %v and %v", what, n, o, node, org)
		}
	}
	want("nothing happened", false, false)
	restart := func(ended bool) {
		s.peerDown("p")
		if ended {
			s.sessionEnded("p")
		}
		s.peerUp("p", "south", "s1")
	}
	restart(false)
	want("silent for a while", false, false)
	restart(true)
	want("another session", true, true)
	s.peerUp("q", "south", "s2")
	restart(true)
	want("another session beside another node", true, false)
}

// TestSaidUnsorted shows that what a heartbeat says is found however it is sorted, and that of several nodes of an
// organisation the furthest counts.
func TestSaidUnsorted(t *testing.T) {
	s := newStreams("north", nil, time.Now)
	w := &watchers{self: "north/n1", list: new(listeners), way: func(peer.ID) dcaa.Way { return dcaa.Way{} }}
	s.peerUp("p", "south", "s1")
	s.peerUp("q", "south", "s2")
	s.heard("p", []wire.StreamStatus{{Name: "south/c", LastID: 3, Boundary: 3}, {Name: "south/a", LastID: 1, Boundary: 1}, {Name: "south/b", LastID: 2, Boundary: 2}})
	s.heard("q", []wire.StreamStatus{{Name: "south/b", LastID: 9, Boundary: 9}, {Name: "south/c", LastID: 1, Boundary: 1}})
	news := w.newsOf(s, "south/*")
	for stream, want := range map[string]uint64{"south/a": 1, "south/b": 9, "south/c": 3} {
		if got, ok := news.Of(stream); !ok || got.LastID != want {
			t.Errorf("%s: last id %d, %v; want %d", stream, got.LastID, ok, want)
		}
	}
	if got, ok := news.Of("south/d"); ok {
		t.Errorf("a stream that nobody gives: %+v", got)
	}
}
