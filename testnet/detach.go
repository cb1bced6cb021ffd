package testnet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// DetachedEnv names the variable by which a command that owns a network in the background learns where to say that it
// is up.
const DetachedEnv = "FEDNODE_TESTNET_DETACHED"

// detachWithin is how long a network may take until it is up.
const detachWithin = 2 * time.Minute

// StartDetached runs this executable with args in the background: a command that calls Up, and then TellUp. It returns
// the network's directory once it is up; an error is what the command said.
func StartDetached(ctx context.Context, dir string, args []string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("testnet: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("testnet: %w", err)
	}
	defer r.Close()
	said, err := os.CreateTemp("", "fednode-testnet-*.log")
	if err != nil {
		return "", errors.Join(fmt.Errorf("testnet: %w", err), w.Close())
	}
	defer said.Close()
	defer os.Remove(said.Name())
	c := exec.Command(self, args...)
	c.Stdout, c.Stderr, c.ExtraFiles = said, said, []*os.File{w}
	c.Env = append(os.Environ(), DetachedEnv+"=3")
	c.SysProcAttr = supervisorAttr()
	if err := errors.Join(c.Start(), w.Close()); err != nil {
		return "", fmt.Errorf("testnet: %w", err)
	}
	line := make(chan string, 1)
	go func() { // ends when the other side says something or ends
		text, _ := bufio.NewReader(r).ReadString('\n') // without a line it is not up
		line <- strings.TrimSpace(text)
	}()
	ctx, cancel := context.WithTimeout(ctx, detachWithin)
	defer cancel()
	select {
	case at := <-line:
		if at != "" {
			return at, c.Process.Release()
		}
	case <-ctx.Done():
		err = errors.Join(ctx.Err(), c.Process.Kill())
	}
	return "", errors.Join(err, startFailure(c, said.Name()))
}

// startFailure is what a command that did not come up said at last.
func startFailure(c *exec.Cmd, said string) error {
	waited := c.Wait()
	text, err := os.ReadFile(said)
	if err != nil {
		return errors.Join(waited, err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	msg := strings.TrimPrefix(lines[len(lines)-1], "fednode: ")
	var exit *exec.ExitError
	if errors.As(waited, &exit) && exit.ExitCode() == 2 {
		return &Error{Kind: ErrSpec, Msg: msg}
	}
	return errors.New(msg)
}

// TellUp tells the process that started this one in the background that the network is up. It does nothing in a process
// that was started otherwise.
func (n *Net) TellUp() error {
	if os.Getenv(DetachedEnv) != "3" {
		return nil
	}
	w := os.NewFile(3, "detached")
	_, err := fmt.Fprintln(w, filepath.Clean(n.dir))
	return errors.Join(err, w.Close())
}
