package dataset

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"fednode/query"
)

// Network is one capture of connections whose windows are known: 60 s, by source.
type Network struct {
	Name string
	// Query is the query's file in testdata.
	Query string
	// Source is a pattern of files below the folder of the data sets; ** stands for all levels.
	Source string
	// Expected is the folder of the known results, below that of the data sets.
	Expected string
	// Rows are the records of all files together.
	Rows uint64
	// Set is what the capture needs changed in the query.
	Set []query.Edit
	// Behind is how many rows lie further behind the largest earlier time than a slack, in seconds, as far as the
	// capture's description says so.
	Behind map[string]uint64
}

// NetworkStream is the stream of the network queries that reads a capture.
const NetworkStream = "conns"

// NetworkOutputs are the outputs of the network queries. Each writes NAME.csv.
func NetworkOutputs() []string { return []string{"per_window_src", "active", "scanning", "both"} }

// Networks returns all captures.
func Networks() []Network {
	zeek := func(name, source, expected string, rows uint64, behind map[string]uint64) Network {
		return Network{Name: name, Query: "netmon-zeek.toml", Source: source, Expected: expected, Rows: rows, Behind: behind}
	}
	argus := func(name string, rows uint64, set ...query.Edit) Network {
		return Network{Name: "argus-" + name, Query: "netmon-argus.toml", Source: "net-argus-ctu/data/" + name + ".binetflow",
			Expected: "net-argus-ctu/expected/" + name, Rows: rows, Set: set}
	}
	const m57 = "net-m57-zeek-argus/"
	return []Network{
		zeek("rita", "net-rita-exposed-host/data/**/*.log.gz", "net-rita-exposed-host/expected", 105_918, map[string]uint64{"0": 39_267, "60": 6_577}),
		zeek("nmap", "net-ctu-nmap-json/data/conn.log.gz", "net-ctu-nmap-json/expected", 4_504, map[string]uint64{"0": 1_445, "60": 167}),
		zeek("m57-zeek", m57+"data/m57-conn.log.gz", m57+"expected/m57-conn", 8_462, map[string]uint64{"0": 3_574}),
		zeek("m57-iso-times", m57+"data/ctu13-conn.log.json.gz", m57+"expected/ctu13-conn", 729, nil),
		{Name: "m57-argus", Query: "netmon-argus.toml", Source: m57 + "data/argus-M57-10k-pkts.csv.gz", Expected: m57 + "expected/argus-M57-10k-pkts", Rows: 2_989,
			Set: []query.Edit{{Name: "streams.conns.columns.ts.layout", Value: `"2006-01-02+15:04:05.000000"`}}},
		argus("test2-malicious", 6_751),
		argus("test3-mixed", 89),
		argus("test4-malicious", 394),
		argus("test11-portscan", 66),
		argus("test5.tabs", 6_725, query.Edit{Name: "streams.conns.format", Value: "tsv"}),
	}
}

// Files returns the capture's files in byte order of their paths; data is the folder of the data sets. No file at all is
// an error.
func (n *Network) Files(data string) ([]string, error) {
	pattern := filepath.Join(data, n.Source)
	root, last, deep := strings.Cut(pattern, "**/")
	if !deep {
		root, last = filepath.Dir(pattern), filepath.Base(pattern)
	}
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && !deep && path != root {
			return fs.SkipDir
		}
		if ok, err := filepath.Match(last, d.Name()); err != nil || !ok || d.IsDir() {
			return err
		}
		out = append(out, path)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("no file matches %s", pattern)
	}
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", n.Name, err)
	}
	slices.Sort(out)
	return out, nil
}

// Sums returns the sha256 that each of [NetworkOutputs] must have, in hexadecimal, by its name.
func (n *Network) Sums(data string) (map[string]string, error) {
	files, err := readSums(filepath.Join(data, n.Expected, "SHA256SUMS.uncompressed"))
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for _, o := range NetworkOutputs() {
		if out[o] = files[o+".csv"]; out[o] == "" {
			return nil, fmt.Errorf("dataset: %s: there is no expected sum of %s.csv", n.Name, o)
		}
	}
	return out, nil
}
