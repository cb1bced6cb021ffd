package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockName is the file in a locked directory that carries the lock and names its holder.
const lockName = "LOCK"

// Lock keeps other processes out of a directory. The kernel frees it when the process ends, however it ends.
type Lock struct{ f *os.File }

// LockDir makes the directory if it is missing and locks it. If another process holds it, the error is of class
// ErrLocked and names that process.
func LockDir(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Wrap("make directory", dir, err)
	}
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Wrap("open", path, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := readHolder(f)
		_ = f.Close() // the refusal is what counts
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &Error{Class: ErrLocked, Op: "lock", Path: dir, Err: fmt.Errorf("held by %s", holder),
				Remedy: "stop that process, or give this node a data directory of its own"}
		}
		return nil, Wrap("lock", path, err)
	}
	writeHolder(f)
	return &Lock{f: f}, nil
}

// Close gives the directory free. It is idempotent.
func (l *Lock) Close() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}

func readHolder(f *os.File) string {
	var b [32]byte
	n, _ := f.ReadAt(b[:], 0) // a short or unreadable file only costs the number
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
}

// writeHolder notes our process for the message of the next one that tries; without space it stays unknown, which is
// no reason to refuse.
func writeHolder(f *os.File) {
	text := fmt.Appendf(nil, "%-20d\n", os.Getpid())
	_, _ = f.WriteAt(text, 0)
}
