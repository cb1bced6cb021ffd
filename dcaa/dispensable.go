package dcaa

import (
	"cmp"
	"slices"
	"strings"

	"fednode/query/tuple"
)

// Dispensable returns the counted subscribers, sorted, that a producer need not wait for: replicas that are away. Of each
// downstream neighbour the replica whose acknowledged time is the highest always counts, away or not, so what a neighbour
// needs is never dropped because all its replicas are down. That time is of the replica's whole state, the same at all its
// inputs, and among equals the name decides: producers that each went by their own ids might keep the one what this replica
// needs and the other what that one does, and then neither could go on. Names are "org/node/neighbour…": replicas of one
// neighbour differ in the node.
func Dispensable(acked map[string]tuple.Position, away func(name string) bool) []string {
	best := make(map[string]string)
	for name := range acked {
		n := neighbour(name)
		if other, ok := best[n]; !ok || further(acked, name, other) {
			best[n] = name
		}
	}
	var out []string
	for name := range acked {
		if best[neighbour(name)] != name && away(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// neighbour is what replicas' names have in common.
func neighbour(name string) string {
	_, rest, _ := strings.Cut(name, "/")
	_, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return name
	}
	return rest
}

// further reports whether the state of a is complete further than that of b; among equals the lower name counts. Who is
// counted without a state has acknowledged no time.
func further(acked map[string]tuple.Position, a, b string) bool {
	return cmp.Or(cmp.Compare(acked[a].Time, acked[b].Time), strings.Compare(b, a)) > 0
}
