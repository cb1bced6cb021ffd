package dcaa

import (
	"slices"
	"testing"

	"fednode/query/tuple"
)

// TestDispensable shows that a replica which is away is not waited for while another of the same neighbour is further, and
// that the one whose state is complete furthest always is.
func TestDispensable(t *testing.T) {
	at := func(n int64) tuple.Position {
		return tuple.Position{Generation: 1, ID: uint64(100 - n), Time: tuple.Time(n)} // ids of one stream say nothing of the whole
	}
	acked := map[string]tuple.Position{
		"north/n1/q/f": at(10), "north/n2/q/f": at(7), "south/s1/q/f": at(9),
		"north/n1/q/g": at(1), "east/e1/other/f": at(2), "tail": at(0),
	}
	all := func(string) bool { return true }
	if got := Dispensable(acked, all); !slices.Equal(got, []string{"north/n2/q/f", "south/s1/q/f"}) {
		t.Fatalf("all away: %v", got)
	}
	if got := Dispensable(acked, func(n string) bool { return n == "north/n1/q/f" }); got != nil {
		t.Fatalf("the furthest is away: %v", got)
	}
	acked["south/s1/q/f"] = at(10)
	if got := Dispensable(acked, all); !slices.Equal(got, []string{"north/n2/q/f", "south/s1/q/f"}) {
		t.Fatalf("equally far: %v, want the lower name to count", got)
	}
}
