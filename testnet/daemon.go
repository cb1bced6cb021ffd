package testnet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"fednode/node/trust"
)

// Times of a daemon's life.
const (
	// startWithin is how long a daemon may take until it is ready. It takes a fraction of a second; a machine that is
	// busy building takes longer.
	startWithin = 30 * time.Second
	// stopWithin is how long it may take to end before it is killed.
	stopWithin = 30 * time.Second
	// lookEvery is how often files and states are looked at.
	lookEvery = 5 * time.Millisecond
)

// addresses is what a running daemon writes down about itself.
type addresses struct {
	PID int      `json:"pid"`
	API string   `json:"api"`
	P2P []string `json:"p2p"`
}

// daemon is a node's process, the present one and those before it.
type daemon struct {
	place
	command string // executable
	fabric  fabric

	mu      sync.Mutex
	process *process // nil before the first start
	at      addresses
	client  *client
	// halted says that it was ended or stands still on purpose, and how.
	halted string
	// haunted is what it was told last.
	haunted Haunt
}

func (d *daemon) logFile() string { return filepath.Join(d.dir, trust.DirLog, "fednode.log") }

// launch runs the process.
func (d *daemon) launch() (*process, error) {
	p, err := startProcess(d.fabric.starter(d.index), d.logFile(), []string{HauntEnv + "=" + filepath.Join(d.dir, hauntFile)}, d.command, "run", "--config", filepath.Join(d.dir, configFile))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.process, d.halted = p, ""
	d.mu.Unlock()
	return p, nil
}

// start runs the process and waits until it is ready. The context bounds only the waiting.
func (d *daemon) start(ctx context.Context) error {
	p, err := d.launch()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := d.waitReady(ctx, p); err != nil {
		return fmt.Errorf("node %s did not start: %w\n%s", d.id, err, d.lastWords())
	}
	return nil
}

// waitReady waits until this process, not an earlier one, has written where it can be reached, and says it is ready.
func (d *daemon) waitReady(ctx context.Context, p *process) error {
	token, err := trust.Dir{Path: d.dir}.LoadToken()
	if err != nil {
		return err
	}
	var c *client
	ready := func() bool {
		if c == nil {
			at, err := d.readAddresses()
			if err != nil || at.PID != p.pid {
				return false
			}
			c = newClient(at.API, token)
			d.mu.Lock()
			d.at, d.client = at, c
			d.mu.Unlock()
		}
		return c.ready(ctx)
	}
	return until(ctx, func() (bool, error) {
		if !p.running() {
			return false, fmt.Errorf("the process ended: %s", p.how())
		}
		return ready(), nil
	})
}

func (d *daemon) readAddresses() (at addresses, err error) {
	text, err := os.ReadFile(filepath.Join(d.dir, trust.DirData, "run", "addresses.json"))
	if err != nil {
		return at, err
	}
	return at, json.Unmarshal(text, &at)
}

// until asks again and again until the answer is yes or an error, or ctx ends.
func until(ctx context.Context, ask func() (bool, error)) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if ok, err := ask(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lastWords is the end of the daemon's log, where the reason stands.
func (d *daemon) lastWords() string {
	const most = 2000
	f, err := os.Open(d.logFile())
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return ""
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(text, nil))), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-5):], "\n  ")
}

// now returns the present process and client; the client is nil before it was ready for the first time.
func (d *daemon) now() (p *process, c *client, at addresses) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.process, d.client, d.at
}

func (d *daemon) running() bool {
	p, _, _ := d.now()
	return p != nil && p.running()
}

// kill ends the process at once, stop in order.
func (d *daemon) kill() error {
	p, _, _ := d.now()
	if p == nil || !p.running() {
		return errorf(ErrNone, "node %s does not run", d.id)
	}
	d.setHalted(StateKilled)
	return p.kill()
}

func (d *daemon) stop() error {
	p, _, _ := d.now()
	if p == nil || !p.running() {
		return errorf(ErrNone, "node %s does not run", d.id)
	}
	d.setHalted(StateEnded)
	ok, err := p.stop(stopWithin)
	if err == nil && !ok {
		return fmt.Errorf("node %s did not end within %s and was killed", d.id, stopWithin)
	}
	return err
}

// still lets the process stand still, or go on.
func (d *daemon) still(on bool) error {
	p, _, _ := d.now()
	if p == nil || !p.running() {
		return errorf(ErrNone, "node %s does not run", d.id)
	}
	if on {
		d.setHalted(StateStopped)
		return p.signal(syscall.SIGSTOP)
	}
	if d.state() == StateStopped {
		d.setHalted("")
	}
	return p.signal(syscall.SIGCONT)
}

func (d *daemon) setHalted(how string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.halted = how
}

// state is how the node is: one of the states of a view.
func (d *daemon) state() string {
	d.mu.Lock()
	p, halted := d.process, d.halted
	d.mu.Unlock()
	switch {
	case p != nil && p.running() && halted == "":
		return StateRunning
	case halted != "":
		return halted
	case p == nil:
		return StateStarting
	}
	return StateFailed
}
