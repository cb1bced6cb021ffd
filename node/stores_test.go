package node

import (
	"maps"
	"testing"

	"fednode/query/tuple"
	"fednode/storage/memstore"
)

// TestForgottenSubscribers shows that who is no longer counted stays forgotten over a restart, and that streams do not
// touch each other's subscribers.
func TestForgottenSubscribers(t *testing.T) {
	store := ackStore{memstore.New()}
	at := tuple.Position{Generation: 1, ID: 7, Time: 9}
	for _, step := range []struct {
		stream string
		acks   map[string]tuple.Position
	}{
		{"north/a", map[string]tuple.Position{"north/n1/q/f": at, "south/s1/q/g": at}},
		{"north/ab", map[string]tuple.Position{"south/s1/q/g": at}},
		{"north/a", map[string]tuple.Position{"north/n1/q/f": at}},
	} {
		if err := store.Store(step.stream, step.acks); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Load(step.stream); err != nil || !maps.Equal(got, step.acks) {
			t.Fatalf("%s: loaded %v, %v; want %v", step.stream, got, err, step.acks)
		}
	}
	if got, err := store.Load("north/ab"); err != nil || len(got) != 1 {
		t.Fatalf("loaded %v, %v", got, err)
	}
}
