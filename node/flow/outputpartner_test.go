package flow

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// truncated is the error that says what is gone, nil if it is none.
func truncated(err error) *dcaa.TruncatedError {
	var gone *dcaa.TruncatedError
	errors.As(err, &gone)
	return gone
}

const partner = "south/s1/q/g"

func partnerOutput(bounds Partner) *Output {
	return NewOutput(OutputConfig{Name: "north/q/o", Schema: schema, Limit: 1 << 30, Generation: 1, Start: tuple.Position{Time: tuple.MinTime},
		Expected: []string{"north/n1/q/f", partner}, Own: "north/", Partner: bounds})
}

// TestPartnerLapsesBySize shows that a partner that reads and never acknowledges is waited for up to its quota, long before
// the output is full, and that our own subscriber is waited for still.
func TestPartnerLapsesBySize(t *testing.T) {
	out := partnerOutput(Partner{Bytes: 10_000})
	now := time.Unix(1000, 0)
	for id := uint64(1); len(out.Lapses()) == 0; id++ {
		if id == 1000 {
			t.Fatal("it has not lapsed")
		}
		out.Append(insertion(id, 1))
		if held, _ := out.Held(); held > 11_000 {
			t.Fatalf("%d bytes are held", held)
		}
		out.LapsePartners(now)
	}
	if l := out.Lapses()[partner]; l.Since != now || l.Acknowledged.ID != 0 {
		t.Fatalf("%+v", l)
	}
	if s := out.Subscribers(); len(s) != 1 {
		t.Fatalf("%v are counted, want our own", s)
	}
}

// TestPartnerLapsesByAge shows that a partner lapses that has acknowledged nothing new for too long, but not while there is
// nothing to acknowledge; and that it is counted again when it comes back, behind what was dropped meanwhile.
func TestPartnerLapsesByAge(t *testing.T) {
	out := partnerOutput(Partner{Age: time.Hour})
	now := time.Unix(1000, 0)
	after := func(d time.Duration) map[string]Lapse {
		now = now.Add(d)
		out.LapsePartners(now)
		return out.Lapses()
	}
	if l := after(0); len(l) != 0 {
		t.Fatal(l)
	}
	if l := after(3 * time.Hour); len(l) != 0 {
		t.Fatalf("there is nothing to acknowledge: %v", l)
	}
	out.Append(insertion(1, 2))
	if l := after(50 * time.Minute); len(l) != 0 {
		t.Fatal(l)
	}
	out.Ack(partner, tuple.Position{Generation: 1, ID: 1, Time: tuple.MinTime})
	after(0)
	if l := after(50 * time.Minute); len(l) != 0 {
		t.Fatalf("it has acknowledged something: %v", l)
	}
	if l := after(20 * time.Minute); len(l) != 1 {
		t.Fatalf("lapsed: %v", l)
	}
	out.Ack(partner, tuple.Position{Generation: 1, ID: 1, Time: tuple.MinTime})
	if l, s := out.Lapses(), out.Subscribers(); len(l) != 0 || s[partner].ID != 1 {
		t.Fatalf("it acknowledges again what is held, and is not counted: %v, %v", l, s)
	}
	after(0)
	after(2 * time.Hour)
	out.Ack("north/n1/q/f", tuple.Position{Generation: 1, ID: 2, Time: 9})
	from := tuple.Position{Generation: 1, ID: 1, Time: tuple.MinTime}
	_, err := out.Open(Subscriber{Name: partner, From: from, Durable: from, Counted: true})
	if gone := truncated(err); gone == nil || gone.First.ID != 2 {
		t.Fatalf("%v, want to be told that id 2 is gone", err)
	}
	if l, s := out.Lapses(), out.Subscribers(); len(l) != 0 || s[partner].ID != 2 {
		t.Fatalf("who has come back is not counted: %v, %v", l, s)
	}
}

// TestPartnersThatLeaveAreForgotten shows that nothing is kept of subscriptions that come and go under other names.
func TestPartnersThatLeaveAreForgotten(t *testing.T) {
	out := partnerOutput(Partner{Age: time.Hour})
	for k := range 100 {
		name := fmt.Sprintf("south/s1/q%d/g", k)
		if _, err := out.Open(Subscriber{Name: name, From: out.Head(), Durable: out.Head(), Counted: true}); err != nil {
			t.Fatal(err)
		}
		out.LapsePartners(time.Unix(1000, 0))
		out.Forget(name)
	}
	if n := len(out.standings); n != 1 {
		t.Fatalf("%d partners are remembered, want the one that is counted", n)
	}
}
