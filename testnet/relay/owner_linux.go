package relay

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// socketOf finds the inode of the socket that has a local and a remote address, in the kernel's list of TCP sockets; "" if
// there is none.
func socketOf(local, remote *net.TCPAddr) string {
	// Of this thread: another one of the process may be in a network namespace of its own.
	f, err := os.Open("/proc/thread-self/net/tcp")
	if err != nil {
		return ""
	}
	defer f.Close()
	want := [2]string{procAddress(local), procAddress(remote)}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local remote state queues timer retransmits uid timeout inode …
		w := strings.Fields(lines.Text())
		if len(w) > 9 && w[1] == want[0] && w[2] == want[1] {
			return w[9]
		}
	}
	return ""
}

// procAddress writes an IPv4 address as the kernel lists it: the bytes of the address turned round, and the port.
func procAddress(a *net.TCPAddr) string {
	ip := a.IP.To4()
	if ip == nil {
		return ""
	}
	return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString([]byte{ip[3], ip[2], ip[1], ip[0]})), a.Port)
}

// OwnerOf returns which of some processes of ours has the socket with a local and a remote address; -1 if none does.
// Addresses are IPv4.
func OwnerOf(local, remote *net.TCPAddr, pids []int) int {
	inode := socketOf(local, remote)
	if inode == "" {
		return -1
	}
	want := "socket:[" + inode + "]"
	for i, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it has just ended
		}
		for _, e := range entries {
			if link, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && link == want {
				return i
			}
		}
	}
	return -1
}
