package dcaa

import "testing"

// TestMutePeer shows that a replica which is there and never answers keeps nobody from redoing for ever, however often it
// asks itself; one that answers, or is away, is waited for as ever.
func TestMutePeer(t *testing.T) {
	const patience = Instant(permissionPatience)
	for _, c := range []struct {
		name string
		// second happens once a second.
		second func(p *Permission, now Instant)
		want   Instant // from when on it redoes, within two seconds
	}{
		{"silent", func(*Permission, Instant) {}, patience},
		{"asks all the while, and less", func(p *Permission, now Instant) {
			p.Message(now, "org/b", PermissionMessage{Kind: PermissionRequest, Asker: "org/b", AskerIncarnation: 1, Number: uint64(now / Instant(second)), Missed: 1})
		}, patience},
		{"says yes to other requests", func(p *Permission, now Instant) {
			p.Message(now, "org/b", PermissionMessage{Kind: PermissionYes, Asker: "org/a", AskerIncarnation: 1, Number: 9999})
		}, patience},
		{"says yes after a minute", func(p *Permission, now Instant) {
			if now == Instant(60*second) {
				p.Message(now, "org/b", PermissionMessage{Kind: PermissionYes, Asker: "org/a", AskerIncarnation: 1, Number: 1})
			}
		}, Instant(60 * second)},
		{"goes away after a minute", func(p *Permission, now Instant) {
			if now == Instant(60*second) {
				p.Peer(now, "org/b", true)
			}
		}, Instant(60 * second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPermission("org/a", 1, []string{"org/b"})
			p.Want(0, 5)
			now := Instant(0)
			for ; !p.Granted() && now <= 2*patience; now += Instant(second) {
				p.Tick(now)
				c.second(p, now)
				p.TakeMessages()
			}
			if now < c.want || now > c.want+Instant(2*second) {
				t.Fatalf("it redoes after %d s, want %d", now/Instant(second), c.want/Instant(second))
			}
			p.Release(now)
			if p.Want(now, 5); p.Granted() && c.want == patience {
				t.Fatal("the next request does not wait at all")
			}
		})
	}
}
