//go:build !linux

package relay

import "net"

// OwnerOf knows nobody here: only Linux says which process has a socket. All connections then count as from outside.
func OwnerOf(_, _ *net.TCPAddr, _ []int) int { return -1 }
