package dataset

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// networkJob returns the run of a network's query over its files, as published.
func networkJob(n *Network, data string) job {
	return job{file: n.Query, stream: NetworkStream, source: filepath.Join(data, n.Source), outputs: NetworkOutputs(), set: n.Set}
}

// checkNetwork compares the outputs in dir with the expected sums.
func checkNetwork(t *testing.T, n *Network, data, dir string) {
	t.Helper()
	want, err := n.Sums(data)
	require.NoError(t, err)
	for _, o := range NetworkOutputs() {
		require.Equal(t, want[o], fileSum(t, filepath.Join(dir, o+".csv")), "sha256 of %s", o)
	}
}

// TestGroundTruthNetwork: every capture gives the known windows, however its records are ordered, cut and packed.
func TestGroundTruthNetwork(t *testing.T) {
	data, ok := dataDir(t)
	if !ok {
		return
	}
	for _, n := range Networks() {
		t.Run(n.Name, func(t *testing.T) {
			run := func(name string, edit func(t *testing.T, j *job)) {
				t.Run(name, func(t *testing.T) {
					j := networkJob(&n, data)
					edit(t, &j)
					dir, report := j.run(t)
					require.Equal(t, n.Rows, report.Streams[0].Rows)
					require.Zero(t, report.Streams[0].Late)
					checkNetwork(t, &n, data, dir)
				})
			}
			for _, rows := range []int{4096, 7, 1} {
				run(fmt.Sprintf("batches of %d", rows), func(_ *testing.T, j *job) { j.batchRows = rows })
			}
			// So little memory that records are sorted on disk before the operators get them.
			run("in little memory", func(_ *testing.T, j *job) { j.sortBytes = 64 << 10 })
			c := readCapture(t, &n, data)
			require.Len(t, c.records, int(n.Rows))
			for _, packed := range []string{"", ".gz", ".zst"} {
				run("in one file "+packed, func(t *testing.T, j *job) { j.source = c.write(t, plainName(&n)+packed) })
			}
			run("shuffled", func(t *testing.T, j *job) {
				rng := rand.New(rand.NewPCG(7, uint64(len(c.records))))
				rng.Shuffle(len(c.records), func(i, k int) { c.records[i], c.records[k] = c.records[k], c.records[i] })
				j.source = c.write(t, plainName(&n)+".gz")
			})
		})
	}
}

// TestGroundTruthBinary: the command itself gives the same files.
func TestGroundTruthBinary(t *testing.T) {
	data, ok := dataDir(t)
	if !ok {
		return
	}
	command := buildCommand(t)
	for _, n := range Networks() {
		t.Run(n.Name, func(t *testing.T) {
			j := networkJob(&n, data)
			dir, out := command.run(t, &j)
			require.Equal(t, n.Rows, out.Streams["conns"].RowsIn)
			checkNetwork(t, &n, data, dir)
		})
	}
}
