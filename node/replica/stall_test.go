package replica

import (
	"testing"

	"fednode/dcaa"
)

// TestStalledBesideOneThatGoesOn shows that a redo whose input fails again half way is given up, and its permission given
// back, although another SUnion of the path goes on all the while.
func TestStalledBesideOneThatGoesOn(t *testing.T) {
	s := newStage(t, joinQuery, nil)
	s.run(5000 * ms)
	s.cut(1, true)
	s.run(6000 * ms)
	if got := s.r.unions[1].path.state; got != dcaa.UpstreamFailure {
		t.Fatalf("state %v before healing", got)
	}
	src := s.sources[1]
	s.r.Reachable(s.now, 1, 0, true)
	s.r.Heard(s.now, 1, 0, dcaa.StreamStatus{State: dcaa.Stable, Boundary: s.sources[1].log[len(src.log)-1].Time, Generation: 1, LastID: src.last})
	if _, err := s.r.Advance(s.now); err != nil {
		t.Fatal(err)
	}
	s.r.Opened(s.now, 1, src.conn)
	for range 20 { // a part of what it missed, and then no more
		if err := s.r.Frame(s.now, 1, src.conn, src.log[src.sent]); err != nil {
			t.Fatal(err)
		}
		src.sent++
	}
	if _, err := s.r.Advance(s.now); err != nil {
		t.Fatal(err)
	}
	if got := s.r.unions[1].path.state; got != dcaa.Stabilization || !s.r.Redoing() {
		t.Fatalf("state %v, redoing %v; want a redo that has begun", got, s.r.Redoing())
	}
	s.cut(1, true)
	s.run(2000 * ms)
	if got := s.r.unions[1].path.state; got != dcaa.UpstreamFailure || s.r.Redoing() {
		t.Fatalf("state %v, redoing %v; want the redo given up, and the permission with it", got, s.r.Redoing())
	}
	s.cut(1, false)
	s.run(7000 * ms)
	compare(t, s, reference(t, joinQuery, 20_000*ms))
}

// TestCrowdedWithoutPermission shows that a replica which holds so much that it redoes a part without permission serves new
// tuples all the while it waits for the permission to redo the rest.
func TestCrowdedWithoutPermission(t *testing.T) {
	s := newStage(t, unionQuery, func(c *Config) {
		c.Peers = []string{"north/n2"}
		c.WaitingRows, c.SliceRows = 200, 220
	})
	s.r.PeerReachable(s.now, 0, true) // and it never says yes
	s.run(5000 * ms)
	s.cut(1, true)
	s.run(15_000 * ms)
	stood := s.r.unions[0].su.Released()
	s.cut(1, false)
	partly := false
	for range 10 {
		s.run(500 * ms)
		u := s.r.unions[0]
		partly = partly || u.affected && u.su.Released() > stood && u.su.Waiting(0) <= 100
		if u.path.state != dcaa.UpstreamFailure {
			t.Fatalf("state %v; who reads it has no reason to leave while it serves as before", u.path.state)
		}
		if late := int64(s.now) - int64(s.outputs[0].boundary) - 1_000_000*ms; late > 2600*ms {
			t.Fatalf("results are %d ms behind, in state %v", late/ms, u.path.state)
		}
	}
	if !partly || s.r.Redoing() {
		t.Fatalf("redone in part: %v, with permission: %v; want the one without the other", partly, s.r.Redoing())
	}
}

// TestServedByPath shows that another replica serves in place of a path only if it gives all outputs of that one: what it
// gives of others is of no use there.
func TestServedByPath(t *testing.T) {
	s := newStage(t, apartQuery, func(c *Config) { c.Peers = []string{"north/n2", "north/n3"} })
	if len(s.r.paths) != 2 {
		t.Fatalf("%d paths, want 2", len(s.r.paths))
	}
	want := func(first, second bool) {
		t.Helper()
		if a, b := s.r.served(s.r.paths[0]), s.r.served(s.r.paths[1]); a != first || b != second {
			t.Fatalf("served %v and %v, want %v and %v", a, b, first, second)
		}
	}
	say := func(peer int, states ...dcaa.State) {
		for n, p := range s.r.paths {
			s.r.PeerHeard(s.now, peer, p.outputs[0], dcaa.StreamStatus{State: states[n]})
		}
	}
	say(0, dcaa.Stable, dcaa.Stable)
	want(false, false) // not up
	s.r.PeerReachable(s.now, 0, true)
	s.r.PeerReachable(s.now, 1, true)
	say(0, dcaa.Stable, dcaa.Stabilization)
	want(true, false)
	say(1, dcaa.Stabilization, dcaa.UpstreamFailure)
	want(true, true)
	s.r.PeerReachable(s.now, 0, false)
	want(false, true)
	s.r.PeerReachable(s.now, 0, true)
	want(false, true) // until it says something
}
