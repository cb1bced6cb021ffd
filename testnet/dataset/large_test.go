package dataset

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

func TestMain(m *testing.M) {
	flag.String("large", "", "run the tests over large files, of so many GiB; they lie in the directory for temporary files")
	flag.Parse()
	os.Exit(m.Run())
}

// memoryMax is what a run over a large file may take, in bytes.
const memoryMax = 512 << 20

// large returns the size of the large file in bytes. Without -large it is small: the same is tested, but not that
// memory stays bounded.
func large(t *testing.T) (size int64, measured bool) {
	text := flag.Lookup("large").Value.String()
	if text == "" {
		return 8 << 20, false
	}
	gib, err := strconv.ParseFloat(strings.TrimSuffix(text, "GiB"), 64)
	require.NoError(t, err)
	return int64(gib * (1 << 30)), true
}

// largeFile writes a file of connection records.
func largeFile(t *testing.T, size int64) (string, Written) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conns.csv")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := Connections{Seed: 1, Bytes: size, Sources: 10_000, PerSecond: 2000, Disorder: 50_000}.Write(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path, w
}

// measure runs a job as a process; a measured run must stay within memoryMax.
func (c command) measure(t *testing.T, j *job, measured bool, flags ...string) (string, runOutput) {
	t.Helper()
	dir := t.TempDir()
	var said, out bytes.Buffer
	p := exec.Command(c.path, append(j.args(dir), flags...)...)
	p.Stdout, p.Stderr = &out, &said
	require.NoError(t, p.Run(), "%s", &said)
	var r runOutput
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	if measured {
		usage, ok := p.ProcessState.SysUsage().(*syscall.Rusage)
		require.True(t, ok)
		rssBytes := usage.Maxrss << 10
		t.Logf("%.1f s, %.0f rows/s, %.1f s of processor time, %d MiB at most", r.WallS, r.RowsPerS,
			(p.ProcessState.UserTime() + p.ProcessState.SystemTime()).Seconds(), rssBytes>>20)
		require.LessOrEqual(t, rssBytes, int64(memoryMax), "memory")
	}
	return dir, r
}

// TestLargeFile: a file far larger than memory, almost in order; the planted scanner is found in every window.
func TestLargeFile(t *testing.T) {
	size, measured := large(t)
	c := buildCommand(t)
	path, w := largeFile(t, size)
	t.Logf("%d records, %d bytes", w.Rows, w.Bytes)
	j := job{file: "netmon-large.toml", stream: "conns", source: path, outputs: []string{"active", "both"}}
	dir, out := c.measure(t, &j, measured)
	require.Equal(t, w.Rows, int64(out.Streams["conns"].RowsIn))
	require.Equal(t, w.suspects(), readText(t, filepath.Join(dir, "both.csv")))
}

// TestLargeFileInAnyOrder: without a bound on disorder nothing closes before the end. The records are sorted on disk,
// and give the same results.
func TestLargeFileInAnyOrder(t *testing.T) {
	size, measured := large(t)
	c := buildCommand(t)
	path, w := largeFile(t, min(size, 2<<30))
	t.Logf("%d records, %d bytes", w.Rows, w.Bytes)
	for _, j := range []job{
		{file: "netmon-large.toml", outputs: []string{"active", "both"}},
		{file: "first-large.toml", outputs: []string{"first"}},
	} {
		t.Run(j.file, func(t *testing.T) {
			j.stream, j.source = "conns", path
			inOrder, _ := c.measure(t, &j, measured)
			j.set = []query.Edit{{Name: "streams.conns.max_out_of_order", Value: "inf"}}
			flags := []string{"--sort-memory", "64KiB"}
			if measured {
				flags = nil
			}
			anyOrder, out := c.measure(t, &j, measured, flags...)
			require.Equal(t, w.Rows, int64(out.Streams["conns"].RowsIn))
			for _, o := range j.outputs {
				require.Equal(t, fileSum(t, filepath.Join(inOrder, o+".csv")), fileSum(t, filepath.Join(anyOrder, o+".csv")), o)
			}
		})
	}
}

// suspects returns what the query finds: the scanner, in every window where it has more than 100 connections. Each has
// a port of its own.
func (w *Written) suspects() string {
	var windows []int64
	for at, n := range w.Scans {
		if n > 100 {
			windows = append(windows, at)
		}
	}
	slices.Sort(windows)
	out := "window_start,src,connections,distinct_dst_ports\n"
	for _, at := range windows {
		out += fmt.Sprintf("%d,%s,%d,%d\n", at, Scanner, w.Scans[at], w.Scans[at])
	}
	return out
}

func readText(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(body)
}
