package postgres

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// daemon is a node of its own, whose query writes every row that is pushed at a file into a file and two tables.
type daemon struct {
	t       *testing.T
	command string
	dir     string
	run     *exec.Cmd
	log     *os.File
}

// The query: rows as they are, in the order of their arrival; and the last one of each key.
const daemonQuery = `
[query]
name = "copy"
[streams.lines]
connector = "file"
path = %q
follow = true
columns = { n = "int64", k = "int64" }
[operators.all]
kind = "filter"
input = "lines"
where = "n >= 0"
[outputs.file]
input = "all"
connector = "file"
path = "out.csv"
[outputs.table]
input = "all"
connector = "postgres"
database = "test"
table = "rows"
[outputs.last]
input = "all"
connector = "postgres"
database = "test"
table = "last"
key = ["k"]
tentative = "tag"
[outputs.away]
input = "all"
connector = "postgres"
database = "away"
table = "rows"
`

func startDaemon(t *testing.T, database string) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "fednode-pgd-") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	d := &daemon{t: t, dir: dir, command: build(t, dir)}
	d.do("init", "--org", "north", "--node", "node-1", "--dir", d.node())
	config := fmt.Sprintf("[node]\norg = \"north\"\nname = \"node-1\"\n[listen]\np2p = \"127.0.0.1:0\"\napi = \"unix:api\"\n[checkpoint]\ninterval = \"200ms\"\n[connect.postgres.test]\nconnection = %q\n[connect.postgres.away]\nconnection = %q\n",
		the.connection(database), "host="+dir+" user=u dbname=d")
	require.NoError(t, os.WriteFile(filepath.Join(d.node(), "node.toml"), []byte(config), 0o600))
	d.log, err = os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.log.Close())
		if t.Failed() {
			text, _ := os.ReadFile(d.log.Name()) // only for the message
			t.Logf("%s", text)
		}
	})
	d.start()
	t.Cleanup(d.kill)
	return d
}

// build builds the command into a directory.
func build(t *testing.T, dir string) (command string) {
	t.Helper()
	command = filepath.Join(dir, "fednode")
	out, err := exec.Command("go", "build", "-o", command, "../../cmd/fednode").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return command
}

func (d *daemon) node() string { return filepath.Join(d.dir, "n") }

// do runs a command and returns what it prints.
func (d *daemon) do(args ...string) string {
	d.t.Helper()
	out, err := exec.Command(d.command, args...).CombinedOutput()
	require.NoError(d.t, err, "%s", out)
	return string(out)
}

// start starts the daemon and waits until it answers.
func (d *daemon) start() {
	d.t.Helper()
	d.run = exec.Command(d.command, "run", "--config", filepath.Join(d.node(), "node.toml"))
	d.run.Stdout, d.run.Stderr = d.log, d.log
	require.NoError(d.t, d.run.Start())
	await(d.t, "the daemon answers", func() bool { return exec.Command(d.command, "status", "--dir", d.node()).Run() == nil })
}

// kill ends the daemon as a crash does.
func (d *daemon) kill() {
	require.NoError(d.t, d.run.Process.Kill())
	d.run.Wait() // says that it was killed
}

// await waits until something holds.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	for !ok() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			require.Failf(t, "waited in vain", "until %s", what)
		}
	}
}

// TestKilledDaemon kills a daemon, the connections of its sinks, and the database, while rows come. In the end the table has each row once
// and equals the file of the same results; the one by key has the last row of each; and the output whose database is away has
// held up no other.
func TestKilledDaemon(t *testing.T) {
	const kills, perRound, keys = 16, 2000, 17
	name, conn := database(t)
	d := startDaemon(t, name)
	lines := filepath.Join(d.dir, "lines.csv")
	require.NoError(t, os.WriteFile(lines, []byte("n,k\n"), 0o600))
	query := filepath.Join(d.dir, "copy.toml")
	require.NoError(t, os.WriteFile(query, fmt.Appendf(nil, daemonQuery, lines), 0o600))
	d.do("query", "deploy", query, "--dir", d.node())
	rng, rows := rand.New(rand.NewPCG(5, 1)), 0
	for round := range kills {
		for range 4 {
			rows = grow(t, lines, rows, perRound/4, keys)
			time.Sleep(time.Duration(rng.IntN(250)) * time.Millisecond) // the moment of the kill is part of the input
		}
		switch round % 4 {
		case 1:
			_, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'fednode %'")
			require.NoError(t, err)
		case 3:
			require.NoError(t, the.stop())
			require.NoError(t, the.start())
			conn = reconnect(t, name)
		default:
			d.kill()
			d.start()
		}
	}
	rows = grow(t, lines, rows, 10, keys)
	await(t, "all rows are there", func() bool { return count(t, conn, "rows") >= rows && len(fileRows(t, d)) >= rows })
	await(t, "the last row is there", func() bool { return largest(t, conn, "last") == rows-1 })
	got := tableRows(t, conn, "SELECT n, k FROM rows ORDER BY n")
	want := fileRows(t, d)
	slices.SortFunc(want, func(a, b [2]int) int { return a[0] - b[0] })
	require.Len(t, got, rows)
	require.Equal(t, want, got)
	for n := range got {
		require.Equal(t, n, got[n][0])
	}
	var last [][2]int
	for n := rows - keys; n < rows; n++ {
		last = append(last, [2]int{n, n % keys})
	}
	require.Equal(t, last, tableRows(t, conn, "SELECT n, k FROM last WHERE _state = 'stable' ORDER BY n"))
	require.Equal(t, keys, count(t, conn, "last"))
	require.Contains(t, d.do("query", "show", "copy", "--dir", d.node()), "postgres: database away, table rows: failed to connect")
}

func reconnect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), the.connection(database))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// grow appends lines to the file that is followed; it returns how many there are.
func grow(t *testing.T, path string, rows, more, keys int) int {
	t.Helper()
	var b bytes.Buffer
	for range more {
		fmt.Fprintf(&b, "%d,%d\n", rows, rows%keys)
		rows++
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(b.Bytes())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return rows
}

func count(t *testing.T, conn *pgx.Conn, table string) (n int) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func largest(t *testing.T, conn *pgx.Conn, table string) (n int) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT coalesce(max(n), -1) FROM "+table).Scan(&n))
	return n
}

func tableRows(t *testing.T, conn *pgx.Conn, query string) [][2]int {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (v [2]int, err error) { return v, r.Scan(&v[0], &v[1]) })
	require.NoError(t, err)
	return out
}

// fileRows returns the rows of the file that the same query writes.
func fileRows(t *testing.T, d *daemon) (out [][2]int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.node(), "out.csv"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // the daemon may be writing
	all, err := csv.NewReader(strings.NewReader(string(whole))).ReadAll()
	require.NoError(t, err)
	for _, r := range all[min(1, len(all)):] {
		var v [2]int
		_, err := fmt.Sscan(r[0]+" "+r[1], &v[0], &v[1])
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}
