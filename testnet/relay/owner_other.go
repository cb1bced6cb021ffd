//go:build !linux

package relay

// OwnersOf knows nobody here: only Linux says which process has a socket. All connections then count as from outside.
func OwnersOf(conns []Ends, _ []int) []int {
	owners := make([]int, len(conns))
	for i := range owners {
		owners[i] = Outside
	}
	return owners
}
