package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

// lone is the directory of one daemon outside of a network.
type lone struct {
	t   *testing.T
	dir string
}

// newLone makes a node with a stream of its own. more goes into [node].
func newLone(t *testing.T, p2p, api, more string) *lone {
	t.Helper()
	d := &lone{t: t, dir: filepath.Join(t.TempDir(), "north")}
	out, err := exec.Command(command(), "init", "--org", "north", "--dir", d.dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text := fmt.Sprintf(`[node]
org = "north"
name = "node-1"
%s
[listen]
p2p = %q
api = %q
[limits]
disk_reserve = "1MiB"
[streams.conns]
connector = "generate"
rate = 1000
speed = 0
rows = %d
time = "ts"
max_out_of_order = "1s"
columns = { ts = "timestamp", src = "ip" }
`, more, p2p, api, loneRows)
	require.NoError(t, os.WriteFile(d.config(), []byte(text), 0o600))
	return d
}

const (
	loneRows = 50_000
	anyPort  = "127.0.0.1:0"
)

func (d *lone) config() string { return filepath.Join(d.dir, "node.toml") }

// refuses runs the daemon, which has to end by itself, and returns the last line that it says.
func (d *lone) refuses(code int) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patient)
	defer cancel()
	c := exec.CommandContext(ctx, command(), "run", "--config", d.config())
	var said bytes.Buffer
	c.Stderr = &said
	err := c.Run()
	var exit *exec.ExitError
	require.ErrorAs(d.t, err, &exit, "%s", &said)
	require.Equal(d.t, code, exit.ExitCode(), "%s", &said)
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	require.NotContains(d.t, said.String(), "goroutine ", "no stack")
	return lines[len(lines)-1]
}

// start runs the daemon until the test, or stop, ends it.
func (d *lone) start() (stop func()) {
	d.t.Helper()
	c := exec.Command(command(), "run", "--config", d.config())
	require.NoError(d.t, c.Start())
	stop = func() {
		if c.ProcessState == nil {
			require.NoError(d.t, c.Process.Kill())
			require.Error(d.t, c.Wait())
		}
	}
	d.t.Cleanup(stop)
	return stop
}

// status asks the daemon that runs; ok is false while it does not answer.
func (d *lone) status() (s api.Status, ok bool) {
	text, err := os.ReadFile(filepath.Join(d.dir, "data", "run", "addresses.json"))
	if err != nil {
		return s, false
	}
	var at struct {
		API string `json:"api"`
	}
	if json.Unmarshal(text, &at) != nil {
		return s, false
	}
	token, err := os.ReadFile(filepath.Join(d.dir, "api.token"))
	if err != nil {
		return s, false
	}
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, at.API+"/api/v1/status", nil)
	if err != nil {
		return s, false
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return s, false
	}
	defer resp.Body.Close()
	return s, resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&s) == nil
}

// awaitRows waits until the stream has all rows.
func (d *lone) awaitRows() (s api.Status) {
	d.t.Helper()
	eventually(d.t, "all rows are in", func() bool {
		var ok bool
		s, ok = d.status()
		return ok && s.Sources[0].Rows == loneRows && s.Sources[0].Condition == "ended"
	})
	return s
}

// TestProcessRefusesStart: what keeps a daemon from starting is said in one message with what to do.
func TestProcessRefusesStart(t *testing.T) {
	busy, err := net.Listen("tcp", anyPort)
	require.NoError(t, err)
	defer busy.Close()
	t.Run("used port of the API", func(t *testing.T) {
		said := newLone(t, anyPort, busy.Addr().String(), "").refuses(1)
		require.Contains(t, said, "address already in use")
		require.Contains(t, said, "[listen] api")
	})
	t.Run("used port for peers", func(t *testing.T) {
		said := newLone(t, busy.Addr().String(), anyPort, "").refuses(1)
		require.Contains(t, said, "the port is in use")
		require.Contains(t, said, "listen.p2p")
	})
	t.Run("data directory that cannot be written", func(t *testing.T) {
		said := newLone(t, anyPort, anyPort, `data_dir = "/sys/fednode"`).refuses(1)
		require.Contains(t, said, "/sys/fednode")
		require.Contains(t, said, "[node] data_dir")
	})
	t.Run("damaged key", func(t *testing.T) {
		d := newLone(t, anyPort, anyPort, "")
		key := filepath.Join(d.dir, "node.key")
		require.NoError(t, os.Truncate(key, 40))
		said := d.refuses(2)
		require.Contains(t, said, key)
		require.Contains(t, said, "restore it from a copy")
	})
	t.Run("two daemons", func(t *testing.T) {
		d := newLone(t, anyPort, anyPort, "")
		d.start()
		d.awaitRows()
		said := d.refuses(1)
		require.Contains(t, said, "in use")
		require.Contains(t, said, "a data directory of its own")
		d.awaitRows() // the first goes on
	})
}

// TestProcessDamagedTail: a log whose end is damaged is mended at the start, the status says so, and what was lost of it
// is read anew.
func TestProcessDamagedTail(t *testing.T) {
	for name, damage := range map[string]func(path string, end int64) error{
		"cut off":   func(path string, end int64) error { return os.Truncate(path, end-1000) },
		"garbage":   func(path string, end int64) error { return overwrite(path, end-2000, 1500) },
		"appended":  func(path string, end int64) error { return overwrite(path, end+7, 5000) },
		"last byte": func(path string, end int64) error { return overwrite(path, end-1, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newLone(t, anyPort, anyPort, "")
			stop := d.start()
			before := d.awaitRows()
			stop()
			require.NoError(t, os.Remove(filepath.Join(d.dir, "data", "run", "addresses.json")))
			segments, err := filepath.Glob(filepath.Join(d.dir, "data", "streams", "conns", "*.seg"))
			require.NoError(t, err)
			require.NotEmpty(t, segments)
			last := segments[len(segments)-1]
			require.NoError(t, damage(last, writtenEnd(t, last)))
			d.start()
			after := d.awaitRows()
			require.Equal(t, before.Sources[0].Head, after.Sources[0].Head)
			require.Equal(t, before.Sources[0].High, after.Sources[0].High)
			require.NotEmpty(t, after.Sources[0].Recovered)
		})
	}
}

// writtenEnd is where the records of a segment end: segments are made at their full size, of zeros.
func writtenEnd(t *testing.T, path string) int64 {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return int64(len(bytes.TrimRight(b, "\x00")))
}

// overwrite puts noise into a file.
func overwrite(path string, at int64, n int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	noise := bytes.Repeat([]byte{0xA5, 0x3C, 0x01}, n/3+1)[:n]
	_, err = f.WriteAt(noise, at)
	return errors.Join(err, f.Close())
}
