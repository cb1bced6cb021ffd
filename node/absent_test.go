package node

import (
	"testing"
	"time"
)

// TestAbsence shows that for how long a replica has been away does not depend on the time of day, that its coming back ends
// it, and that neither this node nor a name that is none of a replica is ever away.
func TestAbsence(t *testing.T) {
	const who = "north/n2/q/sums"
	for _, wrong := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		began := time.Now()
		s := newStreams("north", nil, func() time.Time { return time.Now().Add(wrong) })
		within := func(what string) {
			t.Helper()
			now := time.Now()
			if d := s.absent(who, "north/n1", now); d < 0 || d > now.Sub(began) {
				t.Fatalf("the time of day is wrong by %v; %s it is away for %v", wrong, what, d)
			}
		}
		within("never heard of,")
		s.peerUp("p", "north", "n2")
		if d := s.absent(who, "north/n1", time.Now().Add(time.Hour)); d != 0 {
			t.Fatalf("away for %v while it is up", d)
		}
		s.peerDown("p")
		within("gone,")
		if s.absent(who, "north/n1", time.Now().Add(time.Hour)) < time.Hour {
			t.Fatal("an hour later it is not away for an hour")
		}
		for _, name := range []string{"north/n1/q/sums", "tail"} {
			if d := s.absent(name, "north/n1", time.Now().Add(time.Hour)); d != 0 {
				t.Fatalf("%s is away for %v", name, d)
			}
		}
	}
}
