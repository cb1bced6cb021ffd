package testnet

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Files of a network's directory.
const (
	stateFile = "net.json"
	lockFile  = "lock"
	leftFile  = "left" // by a network that has ended: names of what may be removed
)

// state is what a network writes down so that other processes find it.
type state struct {
	PID     int    `json:"pid"`     // of the process that owns the daemons
	Control string `json:"control"` // where it takes orders
	Token   string `json:"token"`   // that orders must show
}

// base is the directory of networks that were given none of their own; only this user can enter it.
func base() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("fednode-testnet-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("testnet: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("testnet: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("testnet: %s is not a directory of yours alone; remove it, or choose a place with --dir", dir)
	}
	return dir, nil
}

// claim makes the directory and takes its lock, which the system gives back when this process ends.
func (n *Net) claim() error {
	if err := n.makeDir(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(n.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.Join(errorf(ErrBusy, "a testnet runs in %s already; end it with fednode testnet down --dir %s, or choose another --dir", n.dir, n.dir), f.Close())
	}
	n.lock = f
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	if len(entries) > 1 && !left(n.dir) {
		return errorf(ErrSpec, "%s is not empty, and no testnet has left it; choose another --dir", n.dir)
	}
	return n.clear()
}

// left reports whether what is in a directory is what a network that ended has left there. Only that is ours to remove.
func left(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, leftFile))
	return err == nil
}

// clear removes what a network has left in the directory, by the list that it left with it.
func (n *Net) clear() error {
	path := filepath.Join(n.dir, leftFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSpace(name); name != filepath.Base(name) || name == "." || name == ".." {
			return errorf(ErrSpec, "%s: %q is no name of a file in the directory; remove the directory, or choose another --dir", path, name)
		}
		if err := os.RemoveAll(filepath.Join(n.dir, name)); err != nil {
			return fmt.Errorf("testnet: %w", err)
		}
	}
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != leftFile {
			return errorf(ErrSpec, "%s: %s is not of the testnet that ran there; move it away, or choose another --dir", n.dir, e.Name())
		}
	}
	return os.Remove(path)
}

// leave writes down what stays in the directory, so that the next network there may remove it.
func (n *Net) leave() error {
	names := []string{n.file}
	for _, d := range n.daemons {
		names = append(names, filepath.Base(d.dir))
	}
	if err := os.WriteFile(filepath.Join(n.dir, leftFile), []byte(strings.Join(names, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	return nil
}

func (n *Net) makeDir() error {
	if n.dir == "" {
		b, err := base()
		if err != nil {
			return err
		}
		if n.dir, err = os.MkdirTemp(b, "net-"); err != nil {
			return fmt.Errorf("testnet: %w", err)
		}
		n.own = true
		return nil
	}
	// Daemons and people refer to it from elsewhere.
	abs, err := filepath.Abs(n.dir)
	if err == nil {
		n.dir, err = abs, os.MkdirAll(abs, 0o700)
	}
	if err != nil {
		return errorf(ErrSpec, "testnet: %v", err)
	}
	return nil
}

// release gives the directory back, and removes it if nobody asked for it.
func (n *Net) release() error {
	if n.lock == nil {
		return nil
	}
	var err error
	if n.own {
		err = os.RemoveAll(n.dir)
	} else {
		if err = os.Remove(filepath.Join(n.dir, stateFile)); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if len(n.daemons) > 0 { // else it never was ours
			err = errors.Join(err, n.leave())
		}
	}
	return errors.Join(err, n.lock.Close())
}

// saveState writes the state as a whole.
func (n *Net) saveState() error {
	text, err := json.MarshalIndent(n.state, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(n.dir, stateFile)
	if err := os.WriteFile(path+".next", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	return os.Rename(path+".next", path)
}

func newToken() (string, error) {
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// locked reports whether a network runs in a directory.
func locked(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}

// findDir returns the directory of the network that runs: the one that was named, or the only one.
func findDir(dir string) (string, error) {
	if dir != "" {
		if !locked(dir) {
			return "", errorf(ErrNone, "no testnet runs in %s; start one with fednode testnet up --dir %s", dir, dir)
		}
		return filepath.Abs(dir)
	}
	b, err := base()
	if err != nil {
		return "", err
	}
	all, err := filepath.Glob(filepath.Join(b, "net-*"))
	if err != nil {
		return "", err
	}
	var running []string
	for _, d := range all {
		if locked(d) {
			running = append(running, d)
		}
	}
	switch len(running) {
	case 1:
		return running[0], nil
	case 0:
		return "", errorf(ErrNone, "no testnet runs; start one with fednode testnet up (one that was given a directory is found with --dir)")
	}
	return "", errorf(ErrSpec, "%d testnets run; choose one with --dir:\n  %s", len(running), strings.Join(running, "\n  "))
}
