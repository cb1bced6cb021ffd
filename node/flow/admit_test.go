package flow

import (
	"errors"
	"fmt"
	"testing"

	"fednode/query/tuple"
)

// TestSubscribersOfAPartner shows that a partner cannot make a stream count names without end, that those counted may come
// again, that one that has gone makes room, and that neither our own nor another partner's are refused for it.
func TestSubscribersOfAPartner(t *testing.T) {
	start := tuple.Position{Time: tuple.MinTime}
	out := NewOutput(OutputConfig{Name: "north/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: start, Own: "north/"})
	open := func(name string) error {
		_, err := out.Open(Subscriber{Name: name, From: start, Durable: start, Counted: true})
		return err
	}
	for n := range MaxPerOrg {
		if err := open(fmt.Sprintf("south/s/q/f%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	var crowded *CrowdedError
	if err := open("south/s/q/more"); !errors.As(err, &crowded) || crowded.Org != "south" || crowded.Stream != "north/q/o" {
		t.Fatalf("got %v, want a refusal that names the partner and the stream", err)
	}
	for _, name := range []string{"south/s/q/f0", "southern/s/q/f", "east/e/q/f", "north/n/q/f"} {
		if err := open(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := out.Open(Subscriber{Name: "south/s/q/more", From: start}); err != nil {
		t.Errorf("one that is not counted: %v", err)
	}
	out.Forget("south/s/q/f7")
	if err := open("south/s/q/more"); err != nil {
		t.Errorf("after another has gone: %v", err)
	}
}
