package pairbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"fednode/node/api"
	"fednode/node/trust"
)

// Times of a daemon's life.
const (
	startWithin = 30 * time.Second
	stopWithin  = 20 * time.Second
	lookEvery   = 10 * time.Millisecond
	countEvery  = 100 * time.Millisecond // while records pass: each look takes processor time of the daemon
	maxAnswer   = 16 << 20               // bytes
)

// daemon is a child process. It runs until its standard input is closed, so it ends with this process in any case.
type daemon struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
	log   *os.File
	ended chan struct{} // closed once the process is gone
	err   error         // how it ended; read after ended

	token string
	at    addresses
}

// addresses is what a running daemon writes down about itself.
type addresses struct {
	PID int      `json:"pid"`
	API string   `json:"api"`
	P2P []string `json:"p2p"`
}

// start runs the command with the node file of dir as its last argument, and waits until the daemon can be reached.
func start(ctx context.Context, command []string, dir string) (*daemon, error) {
	token, err := trust.Dir{Path: dir}.LoadToken()
	if err != nil {
		return nil, err
	}
	d := &daemon{dir: dir, token: token, ended: make(chan struct{})}
	if d.log, err = os.Create(filepath.Join(dir, "daemon.log")); err != nil {
		return nil, err
	}
	d.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], filepath.Join(dir, nodeFile))...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if d.stdin, err = d.cmd.StdinPipe(); err != nil {
		return nil, errors.Join(err, d.log.Close())
	}
	if err := d.cmd.Start(); err != nil {
		return nil, errors.Join(err, d.log.Close())
	}
	go func() {
		defer close(d.ended)
		d.err = d.cmd.Wait()
	}()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := d.await(ctx, lookEvery, d.reachable); err != nil {
		return nil, errors.Join(fmt.Errorf("the daemon in %s: %w%s", dir, err, d.lastWords()), d.stop())
	}
	return d, nil
}

// reachable reports whether the process has written where it is.
func (d *daemon) reachable(context.Context) (bool, error) {
	text, err := os.ReadFile(filepath.Join(d.dir, trust.DirData, "run", "addresses.json"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(text, &d.at)
}

// await asks again and again until the answer is yes or an error, the process ends, or ctx does.
func (d *daemon) await(ctx context.Context, every time.Duration, ask func(ctx context.Context) (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if ok, err := ask(ctx); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-d.ended:
			return fmt.Errorf("it ended: %w", errors.Join(d.err, errEnded))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errEnded = errors.New("nobody had asked it to")

// stop lets the daemon end in order, and kills it if it does not.
func (d *daemon) stop() error {
	err := d.stdin.Close()
	select {
	case <-d.ended:
		err = d.err
	case <-time.After(stopWithin):
		err = errors.Join(fmt.Errorf("the daemon in %s did not end within %s and was killed", d.dir, stopWithin), d.cmd.Process.Kill())
		<-d.ended
	}
	return errors.Join(err, d.log.Close())
}

// lastWords is the end of what the daemon said, where the reason stands.
func (d *daemon) lastWords() string {
	text, err := os.ReadFile(d.log.Name())
	if err != nil || len(text) == 0 {
		return ""
	}
	return "\n" + string(bytes.ToValidUTF8(text[max(0, len(text)-2000):], nil))
}

func (d *daemon) status(ctx context.Context) (*api.Status, error) {
	var s api.Status
	return &s, d.call(ctx, http.MethodGet, "/api/v1/status", "", nil, &s)
}

// call makes a request of the daemon's API and decodes the answer into out, unless that is nil.
func (d *daemon) call(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, d.at.API+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: the daemon answered %d: %.500s", method, path, resp.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
