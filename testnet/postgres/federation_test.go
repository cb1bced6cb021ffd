package postgres

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// A query over a source of each organisation, whose counts go into a file and, with what is tentative, into a table.
const countQuery = `
[query]
name = "counts"
max_delay = "2s"
[streams.conns]
connector = "file"
path = "conns.csv"
follow = true
time = "ts"
max_out_of_order = "1s"
[streams.conns.columns]
ts = { type = "timestamp", unit = "us" }
src = "string"
n = "int64"
[operators.all]
kind = "filter"
input = "conns"
where = "n > 0"
[operators.per_second]
kind = "aggregate"
input = "all"
window = { tumbling = "1s" }
aggregates = { rows = "count()", last = "max(n)" }
[outputs.file]
input = "per_second"
connector = "file"
path = "counts.csv"
[outputs.table]
input = "per_second"
connector = "postgres"
database = "test"
table = "counts"
key = ["window_start"]
tentative = "tag"
`

// TestCutOff cuts an organisation off while results go into a table by key: tentative ones are shown there, also after the
// daemon that writes them was killed; and when all is healed the table holds what the file of the stable results holds.
func TestCutOff(t *testing.T) {
	name, conn := database(t)
	dir, err := os.MkdirTemp("", "fednode-pgf-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	command := build(t, dir)
	s := testnet.Default()
	s.Organisations, s.Live, s.Query = []string{"north", "south"}, 50, filepath.Join(dir, "counts.toml")
	s.Config = fmt.Sprintf("\n[connect.postgres.test]\nconnection = %q\n", the.connection(name))
	require.NoError(t, os.WriteFile(s.Query, []byte(countQuery), 0o600))
	net, err := testnet.Up(t.Context(), s, testnet.Options{Dir: filepath.Join(dir, "net"), Command: command})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	states := func(state string) int {
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM counts WHERE _state = $1", state).Scan(&n))
		return n
	}
	await(t, "there is a table", func() bool {
		var there bool
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT to_regclass('counts') IS NOT NULL").Scan(&there))
		return there
	})
	await(t, "stable results are in it", func() bool { return states("stable") > 0 })
	apply(t, net, "partition south")
	await(t, "tentative results are in it", func() bool { return states("tentative") > 0 })
	require.NoError(t, net.Kill(net.Nodes()[0]))
	require.Positive(t, states("tentative"), "what a killed sink has left is taken back by the next life")
	apply(t, net, "heal")
	require.NoError(t, net.Restart(t.Context(), net.Nodes()[0]))
	before := states("stable")
	await(t, "what was cut off is corrected", func() bool { return states("stable") > before+10 })
	_, err = net.StopFeeds()
	require.NoError(t, err)
	path := filepath.Join(net.Dir(), net.Nodes()[0], "counts.csv")
	await(t, "all is stable, and the table is the file", func() bool {
		return states("tentative") == 0 && slices.Equal(counts(t, conn), fileCounts(t, path))
	})
	require.Greater(t, len(counts(t, conn)), 10)
}

func apply(t *testing.T, net *testnet.Net, fault string) {
	t.Helper()
	f, err := testnet.ParseFault(strings.Fields(fault))
	require.NoError(t, err)
	_, err = net.Apply(t.Context(), f)
	require.NoError(t, err)
}

func counts(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT window_start, rows, last FROM counts ORDER BY 1")
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) {
		var at time.Time
		var rows, last int64
		err := r.Scan(&at, &rows, &last)
		return fmt.Sprint(at.UTC().Format(time.RFC3339Nano), " ", rows, " ", last), err
	})
	require.NoError(t, err)
	return out
}

// fileCounts returns the results in the file, as counts does; window_end is the second column.
func fileCounts(t *testing.T, path string) (out []string) {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	for _, r := range all[min(1, len(all)):] {
		out = append(out, r[0]+" "+r[2]+" "+r[3])
	}
	return out
}
