package admission

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstRetry is what TCP waits at least, beyond the round trip, until it sends again what was lost, in microseconds: half a
// heartbeat instead of two. Linux has the choice since 6.15.
const firstRetry = 50_000

// thin suits a connection to a little data now and then, all of which is urgent, on a line that loses packets: the kernel sends
// again soon, and at a steady pace instead of after twice as long each time. With a fifth of all packets lost each way, heartbeats
// and rows stand still for more than 1.5 s in one of 16 minutes, not in one of 3. It is the best that can be had of this kernel, and
// of a connection that is none of TCP nothing: without it all is slower and nothing is wrong.
func thin(c net.Conn) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS, 1)
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_RTO_MIN_US, firstRetry)
	})
}
