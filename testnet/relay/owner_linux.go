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

// OwnersOf returns which of some processes of ours made each of some connections; Outside for those that none did.
// Addresses are IPv4. It reads the kernel's list of sockets once, however many connections there are: a list that a flood
// has made long is not read for each of them.
func OwnersOf(conns []Ends, pids []int) []int {
	owners, found := make([]int, len(conns)), make(map[string]int) // by inode
	for i := range owners {
		owners[i] = Outside
	}
	inodes := socketsOf(conns)
	for process, pid := range pids {
		for _, inode := range inodesOf(pid) {
			found[inode] = process
		}
	}
	for i, inode := range inodes {
		if process, ours := found[inode]; ours && inode != "" {
			owners[i] = process
		}
	}
	return owners
}

// socketsOf finds the inodes of the sockets that connections were made with, in the kernel's list of TCP sockets; "" where
// there is none.
func socketsOf(conns []Ends) []string {
	inodes := make([]string, len(conns))
	// Of this thread: another one of the process may be in a network namespace of its own.
	f, err := os.Open("/proc/thread-self/net/tcp")
	if err != nil {
		return inodes
	}
	defer f.Close()
	want := make(map[[2]string]int, len(conns))
	for i, c := range conns {
		want[[2]string{procAddress(c.From), procAddress(c.To)}] = i
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local remote state queues timer retransmits uid timeout inode …
		w := strings.Fields(lines.Text())
		if len(w) <= 9 {
			continue
		}
		if i, ok := want[[2]string{w[1], w[2]}]; ok {
			inodes[i] = w[9]
		}
	}
	return inodes
}

// procAddress writes an IPv4 address as the kernel lists it: the bytes of the address turned round, and the port.
func procAddress(a *net.TCPAddr) string {
	ip := a.IP.To4()
	if ip == nil {
		return ""
	}
	return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString([]byte{ip[3], ip[2], ip[1], ip[0]})), a.Port)
}

// inodesOf returns the inodes of the sockets that a process has; none if it has just ended.
func inodesOf(pid int) (inodes []string) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		link, err := os.Readlink(filepath.Join(dir, e.Name()))
		if inode, ok := strings.CutPrefix(link, "socket:["); err == nil && ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}
