package dataset

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is the built program.
type command struct{ path string }

func buildCommand(t *testing.T) command {
	t.Helper()
	c := command{filepath.Join(t.TempDir(), "fednode")}
	out, err := exec.Command("go", "build", "-o", c.path, "../../cmd/fednode").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return c
}

// runOutput is what `query run --json` prints, as far as the tests read it.
type runOutput struct {
	Streams map[string]struct {
		RowsIn uint64 `json:"rows_in"`
		Late   uint64 `json:"late"`
		Errors uint64 `json:"errors"`
		End    string `json:"end"`
	} `json:"streams"`
	WallS    float64 `json:"wall_s"`
	RowsPerS float64 `json:"rows_per_s"`
}

// args returns the command line of a job whose outputs go to dir.
func (j *job) args(dir string) []string {
	args := []string{"query", "run", filepath.Join("testdata", j.file), "--json"}
	e := j.edits(dir)
	for _, s := range e.Sources {
		args = append(args, "--source", s.Name+"="+s.Value)
	}
	for _, s := range e.Sinks {
		args = append(args, "--sink", s.Name+"="+s.Value)
	}
	for _, s := range e.Set {
		args = append(args, "--set", s.Name+"="+s.Value)
	}
	if j.batchRows > 0 {
		args = append(args, "--batch-rows", strconv.Itoa(j.batchRows))
	}
	return args
}

// run runs a job as a process and returns the folder of its outputs.
func (c command) run(t *testing.T, j *job) (string, runOutput) {
	t.Helper()
	dir := t.TempDir()
	var said, out bytes.Buffer
	p := exec.Command(c.path, j.args(dir)...)
	p.Stdout, p.Stderr = &out, &said
	require.NoError(t, p.Run(), "%s", &said)
	var r runOutput
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	return dir, r
}
