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
	if got := Dispensable(acked, all, all); !slices.Equal(got, []string{"north/n2/q/f", "south/s1/q/f"}) {
		t.Fatalf("all away: %v", got)
	}
	if got := Dispensable(acked, func(n string) bool { return n == "north/n1/q/f" }, all); got != nil {
		t.Fatalf("the furthest is away: %v", got)
	}
	acked["south/s1/q/f"] = at(10)
	if got := Dispensable(acked, all, all); !slices.Equal(got, []string{"north/n2/q/f", "south/s1/q/f"}) {
		t.Fatalf("equally far: %v, want the lower name to count", got)
	}
}

// TestImpostorsAreNoReplicas shows that who only calls itself a replica, and says that it has everything, makes nobody else
// dispensable, and that replicas of one organisation and those that a query names still do.
func TestImpostorsAreNoReplicas(t *testing.T) {
	far := tuple.Position{Generation: 1, ID: 1 << 60, Time: tuple.MaxTime}
	acked := map[string]tuple.Position{"north/n1/q/f": {Generation: 1, ID: 7, Time: 7}, "south/any/q/f": far}
	all, none := func(string) bool { return true }, func(string) bool { return false }
	ours := func(name string) bool {
		return name == "north/n1/q/f" || name == "north/n2/q/f" || name == "east/e1/q/f"
	}
	for _, known := range []func(string) bool{none, ours} {
		if got := Dispensable(acked, all, known); got != nil {
			t.Fatalf("%v is not waited for", got)
		}
	}
	acked["north/n2/q/f"] = tuple.Position{Generation: 1, ID: 8, Time: 8}
	for _, known := range []func(string) bool{none, ours} {
		if got := Dispensable(acked, all, known); !slices.Equal(got, []string{"north/n1/q/f"}) {
			t.Fatalf("%v, want the one that another of its organisation is ahead of", got)
		}
	}
	acked["east/e1/q/f"] = tuple.Position{Generation: 1, ID: 9, Time: 9}
	if got := Dispensable(acked, all, ours); !slices.Equal(got, []string{"north/n1/q/f", "north/n2/q/f"}) {
		t.Fatalf("%v, want those that another one of the query is ahead of", got)
	}
}
