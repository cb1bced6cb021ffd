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
//
// Anybody who may read a stream chooses such a name, and what it says to have. known says of which names it is certain that
// they are replicas of that neighbour, by a query that runs here. Another one is a replica to those of its own organisation
// alone: it makes nobody else's rows dispensable.
func Dispensable(acked map[string]tuple.Position, away, known func(name string) bool) []string {
	best := make(map[string]string)
	group := func(name string) string {
		org, of := neighbour(name)
		if known(name) {
			return of
		}
		return org + "//" + of // no name has an empty part
	}
	for name := range acked {
		n := group(name)
		if other, ok := best[n]; !ok || further(acked, name, other) {
			best[n] = name
		}
	}
	var out []string
	for name := range acked {
		if best[group(name)] != name && away(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// neighbour is what replicas' names have in common, beside the organisation of each.
func neighbour(name string) (org, of string) {
	org, rest, _ := strings.Cut(name, "/")
	_, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return org, name
	}
	return org, rest
}

// further reports whether the state of a is complete further than that of b; among equals the lower name counts. Who is
// counted without a state has acknowledged no time.
func further(acked map[string]tuple.Position, a, b string) bool {
	return cmp.Or(cmp.Compare(acked[a].Time, acked[b].Time), strings.Compare(b, a)) > 0
}
