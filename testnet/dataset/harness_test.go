package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect"
	"fednode/node/connect/connectors"
	"fednode/node/local"
	"fednode/query"
)

// dataDir returns the folder of the public data sets; ok is false, and the log says so, where they are not at hand.
func dataDir(t *testing.T) (dir string, ok bool) {
	dir, ok = Dir()
	if !ok {
		t.Log(Absent)
	}
	return dir, ok
}

// job is one run of a query file of testdata.
type job struct {
	file    string
	stream  string // the stream that is read from source
	source  string
	outputs []string
	set     []query.Edit

	batchRows int
	sortBytes int64
}

// edits returns what the job changes in its query file; the outputs go to dir.
func (j *job) edits(dir string) query.Edits {
	e := query.Edits{Sources: []query.Edit{{Name: j.stream, Value: j.source}}, Set: j.set}
	for _, o := range j.outputs {
		e.Sinks = append(e.Sinks, query.Edit{Name: o, Value: filepath.Join(dir, o+".csv")})
	}
	return e
}

// run runs the job in this process and returns the folder of its outputs.
func (j *job) run(t *testing.T) (string, *local.Report) {
	t.Helper()
	path, dir := filepath.Join("testdata", j.file), t.TempDir()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	b, place := bind.New(connectors.Kinds()), query.Placement{Local: true}
	d, problems := query.Parse(path, src, query.Options{Env: os.LookupEnv, Connectors: b, Edit: j.edits(dir).Apply, Placement: place})
	require.NoError(t, problems.Err())
	b.Finish(d)
	opt := local.Options{Connectors: b, Env: connect.Env{BlockRows: j.batchRows}, MemoryBytes: j.sortBytes, TempDir: t.TempDir()}
	report, err := local.Run(context.Background(), query.NewPlan(d, place, problems), opt)
	require.NoError(t, err)
	require.True(t, report.Complete(), "%+v", report)
	for _, s := range report.Streams {
		require.Zero(t, s.Errors+s.Future, "%s: %s", s.Name, s.First)
	}
	return dir, report
}

func fileSum(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	h := sha256.Sum256(body)
	return hex.EncodeToString(h[:])
}
