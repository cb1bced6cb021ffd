package p2p

import (
	"strconv"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Both ends of a TCP connection between nodes send lost packets again at a steady pace.
func TestThinStreams(t *testing.T) {
	north, south := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, north, south)
	a, b := start(t, north, testConfig(), quiet()), start(t, south, testConfig(), quiet())
	join(t, a, b, "tcp")
	ends := 0
	for _, port := range []int{listening(t, a), listening(t, b)} {
		ends += thinEnds(t, port)
	}
	require.GreaterOrEqual(t, ends, 2)
}

// listening returns the TCP port of a node.
func listening(t *testing.T, n *node) int {
	for _, a := range n.Libp2p().Addrs() {
		if text, err := a.ValueForProtocol(ma.P_TCP); err == nil {
			port, err := strconv.Atoi(text)
			require.NoError(t, err)
			return port
		}
	}
	t.Fatal("no TCP address")
	return 0
}

// thinEnds counts the ends of connections of a port in this process, each of which has to be thin.
func thinEnds(t *testing.T, port int) (ends int) {
	const mostFiles = 1024
	for fd := range mostFiles {
		peer, err := unix.Getpeername(fd)
		if err != nil {
			continue
		}
		self, err := unix.Getsockname(fd)
		if err != nil || portOf(peer) != port && portOf(self) != port {
			continue
		}
		if kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
			continue
		}
		thin, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS)
		require.NoError(t, err)
		require.Equal(t, 1, thin)
		ends++
	}
	return ends
}

func portOf(a unix.Sockaddr) int {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return a.Port
	case *unix.SockaddrInet6:
		return a.Port
	}
	return 0
}
