package dataset

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

// network is one capture whose windows are known: 60 s, by source.
type network struct {
	name     string
	file     string // of testdata
	source   string // pattern below the data folder
	expected string // folder below the data folder
	rows     uint64
	set      []query.Edit
	// behind is how many rows lie further behind the largest earlier time than a slack, in seconds, as far as the
	// set's description says so.
	behind map[string]uint64
}

func networks() []network {
	zeek := func(name, source, expected string, rows uint64, behind map[string]uint64) network {
		return network{name: name, file: "netmon-zeek.toml", source: source, expected: expected, rows: rows, behind: behind}
	}
	argus := func(name string, rows uint64, set ...query.Edit) network {
		return network{name: "argus-" + name, file: "netmon-argus.toml", source: "net-argus-ctu/data/" + name + ".binetflow",
			expected: "net-argus-ctu/expected/" + name, rows: rows, set: set}
	}
	const m57 = "net-m57-zeek-argus/"
	return []network{
		zeek("rita", "net-rita-exposed-host/data/**/*.log.gz", "net-rita-exposed-host/expected", 105_918, map[string]uint64{"0": 39_267, "60": 6_577}),
		zeek("nmap", "net-ctu-nmap-json/data/conn.log.gz", "net-ctu-nmap-json/expected", 4_504, map[string]uint64{"0": 1_445, "60": 167}),
		zeek("m57-zeek", m57+"data/m57-conn.log.gz", m57+"expected/m57-conn", 8_462, map[string]uint64{"0": 3_574}),
		zeek("m57-iso-times", m57+"data/ctu13-conn.log.json.gz", m57+"expected/ctu13-conn", 729, nil),
		{name: "m57-argus", file: "netmon-argus.toml", source: m57 + "data/argus-M57-10k-pkts.csv.gz", expected: m57 + "expected/argus-M57-10k-pkts", rows: 2_989,
			set: []query.Edit{{Name: "streams.conns.columns.ts.layout", Value: `"2006-01-02+15:04:05.000000"`}}},
		argus("test2-malicious", 6_751),
		argus("test3-mixed", 89),
		argus("test4-malicious", 394),
		argus("test11-portscan", 66),
		argus("test5.tabs", 6_725, query.Edit{Name: "streams.conns.format", Value: "tsv"}),
	}
}

// netmonOutputs are the outputs of the network queries, by the names of the expected files.
func netmonOutputs() []string { return []string{"per_window_src", "active", "scanning", "both"} }

// job returns the run of the network's query over its files, as published.
func (n *network) job(data string) job {
	return job{file: n.file, stream: "conns", source: filepath.Join(data, n.source), outputs: netmonOutputs(), set: n.set}
}

// check compares the outputs in dir with the expected sums.
func (n *network) check(t *testing.T, data, dir string) {
	t.Helper()
	want := sums(t, filepath.Join(data, n.expected, "SHA256SUMS.uncompressed"))
	for _, o := range netmonOutputs() {
		require.NotEmpty(t, want[o+".csv"])
		require.Equal(t, want[o+".csv"], fileSum(t, filepath.Join(dir, o+".csv")), "sha256 of %s", o)
	}
}

// TestGroundTruthNetwork: every capture gives the known windows, however its records are ordered, cut and packed.
func TestGroundTruthNetwork(t *testing.T) {
	data, ok := dataDir(t)
	if !ok {
		return
	}
	for _, n := range networks() {
		t.Run(n.name, func(t *testing.T) {
			run := func(name string, edit func(t *testing.T, j *job)) {
				t.Run(name, func(t *testing.T) {
					j := n.job(data)
					edit(t, &j)
					dir, report := j.run(t)
					require.Equal(t, n.rows, report.Streams[0].Rows)
					require.Zero(t, report.Streams[0].Late)
					n.check(t, data, dir)
				})
			}
			for _, rows := range []int{4096, 7, 1} {
				run(fmt.Sprintf("batches of %d", rows), func(_ *testing.T, j *job) { j.batchRows = rows })
			}
			// So little memory that records are sorted on disk before the operators get them.
			run("in little memory", func(_ *testing.T, j *job) { j.sortBytes = 64 << 10 })
			c := readCapture(t, filepath.Join(data, n.source), n.format())
			require.Len(t, c.records, int(n.rows))
			for _, packed := range []string{"", ".gz", ".zst"} {
				run("in one file "+packed, func(t *testing.T, j *job) { j.source = c.write(t, n.plainName()+packed) })
			}
			run("shuffled", func(t *testing.T, j *job) {
				rng := rand.New(rand.NewPCG(7, uint64(len(c.records))))
				rng.Shuffle(len(c.records), func(i, k int) { c.records[i], c.records[k] = c.records[k], c.records[i] })
				j.source = c.write(t, n.plainName()+".gz")
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
	for _, n := range networks() {
		t.Run(n.name, func(t *testing.T) {
			j := n.job(data)
			dir, out := command.run(t, &j)
			require.Equal(t, n.rows, out.Streams["conns"].RowsIn)
			n.check(t, data, dir)
		})
	}
}
