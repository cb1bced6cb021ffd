package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect"
	"fednode/node/connect/connectors"
	"fednode/query"
)

// readings is a stream of files of "s,k,v": a time in seconds, a key and a number.
const readings = `
[query]
name = "q"
[streams.in]
connector = "file"
path = "in.csv"
time = "s"
[streams.in.columns]
s = { type = "timestamp", unit = "s" }
k = "string"
v = "int64"
`

// counts is a query over readings: rows and sum of a key in 10 s windows.
const counts = readings + `
[operators.counts]
kind = "aggregate"
input = "in"
window = { tumbling = "10s" }
group_by = ["k"]
aggregates = { n = "count()", sum = "sum(v)" }
[operators.short]
kind = "map"
input = "counts"
columns = { at = "unix_seconds(window_start)", k = "k", n = "n", sum = "sum" }
[outputs.out]
input = "short"
connector = "file"
path = "out.csv"
`

// workplace is a folder with a query's input and output files.
type workplace struct {
	dir  string
	opt  Options
	set  []query.Edit
	text string
}

func newWorkplace(t *testing.T, text string) *workplace {
	dir := t.TempDir()
	return &workplace{dir: dir, text: text, opt: Options{Env: connect.Env{Dir: dir}, TempDir: t.TempDir()}}
}

func (w *workplace) put(t *testing.T, name, body string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, name), []byte(body), 0o600))
}

func (w *workplace) get(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(w.dir, name))
	require.NoError(t, err)
	return string(body)
}

// plan parses the query.
func (w *workplace) plan(t testing.TB) *query.Plan {
	t.Helper()
	w.opt.Connectors = bind.New(connectors.Kinds())
	place := query.Placement{Local: true}
	d, problems := query.Parse("q.toml", []byte(w.text), query.Options{Connectors: w.opt.Connectors, Edit: query.Edits{Set: w.set}.Apply, Placement: place})
	require.NoError(t, problems.Err())
	w.opt.Connectors.Finish(d)
	return query.NewPlan(d, place, problems)
}

// run runs the query with some keys set: KEY=VALUE.
func (w *workplace) run(t testing.TB, set ...string) (*Report, error) {
	t.Helper()
	w.set = nil
	for _, s := range set {
		name, value, _ := strings.Cut(s, "=")
		w.set = append(w.set, query.Edit{Name: name, Value: value})
	}
	return Run(context.Background(), w.plan(t), w.opt)
}

// rows returns lines "s,k,v" below their header, made by at from 0 to n.
func rows(n int, at func(i int) (s int, k string, v int)) string {
	var b strings.Builder
	b.WriteString("s,k,v\n")
	for i := range n {
		s, k, v := at(i)
		fmt.Fprintf(&b, "%d,%s,%d\n", s, k, v)
	}
	return b.String()
}

func readAll(t testing.TB, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(body)
}
