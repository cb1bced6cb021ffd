package file

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

// dataDir returns the folder of public data sets: $FEDNODE_DATA, or ../shared/data beside the repository.
func dataDir(t *testing.T) string {
	dir := os.Getenv("FEDNODE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Skipf("the public data sets are not here; set FEDNODE_DATA to their folder")
	}
	return dir
}

func column(name, typ string, edit func(*connect.ColumnSpec)) connect.ColumnSpec {
	t, err := tuple.ParseType(typ)
	if err != nil {
		panic(err)
	}
	c := connect.ColumnSpec{Name: name, Type: t}
	if edit != nil {
		edit(&c)
	}
	return c
}

func field(name string) func(*connect.ColumnSpec) {
	return func(c *connect.ColumnSpec) { c.Field = name }
}

func zeekColumns() []connect.ColumnSpec {
	return []connect.ColumnSpec{column("ts", "timestamp", nil), column("src", "ip", field("id.orig_h")), column("dst", "ip", field("id.resp_h")),
		column("dport", "int64", field("id.resp_p")), column("proto", "string", nil), column("dur", "duration", field("duration")), column("uid", "string", nil)}
}

func argusColumns(layout string) []connect.ColumnSpec {
	return []connect.ColumnSpec{
		column("ts", "timestamp", func(c *connect.ColumnSpec) { c.Field, c.Layout, c.Zone = "StartTime", layout, "UTC" }),
		column("src", "string", field("SrcAddr")), column("dport", "string", field("Dport")), column("bytes", "int64", field("TotBytes"))}
}

// Every record of every public set is read: as many rows as its README says, and none set aside.
func TestPublicDataSets(t *testing.T) {
	data := dataDir(t)
	const argus = "2006/01/02 15:04:05.000000"
	nab := []connect.ColumnSpec{column("ts", "timestamp", func(c *connect.ColumnSpec) { c.Field, c.Zone = "timestamp", "UTC" }), column("value", "float64", nil), column("file", "string", field("@file"))}
	luft := []connect.ColumnSpec{column("ts", "timestamp", func(c *connect.ColumnSpec) { c.Field, c.Zone = "timestamp", "UTC" }),
		column("station", "string", field("sensor_id")), column("p1", "decimal(18,2)", field("P1")), column("p2", "decimal(18,2)", field("P2"))}
	for _, c := range []struct {
		path    string
		format  format.Name
		columns []connect.ColumnSpec
		rows    int
	}{
		{"net-rita-exposed-host/data/**/*.log.gz", format.Zeek, zeekColumns(), 105_918},
		{"net-ctu-nmap-json/data/conn.log.gz", format.Zeek, zeekColumns(), 4_504},
		{"net-m57-zeek-argus/data/m57-conn.log.gz", format.Zeek, zeekColumns(), 8_462},
		{"net-m57-zeek-argus/data/ctu13-conn.log.json.gz", format.Zeek, zeekColumns(), 729},
		{"net-m57-zeek-argus/data/argus-M57-10k-pkts.csv.gz", format.CSV, argusColumns("2006-01-02+15:04:05.000000"), 2_989},
		{"net-argus-ctu/data/test2-malicious.binetflow", format.CSV, argusColumns(argus), 6_751},
		{"net-argus-ctu/data/test3-mixed.binetflow", format.CSV, argusColumns(argus), 89},
		{"net-argus-ctu/data/test4-malicious.binetflow", format.CSV, argusColumns(argus), 394},
		{"net-argus-ctu/data/test11-portscan.binetflow", format.CSV, argusColumns(argus), 66},
		{"net-argus-ctu/data/test5.tabs.binetflow", format.TSV, argusColumns(argus), 6_725},
		{"traffic-nab/data/*.csv", format.CSV, nab, 55_946},
		{"sensor-luftdaten-aberdeen/data/luftdaten-aberdeen-2019-05.tar.gz", "tar", luft, 302_564},
		{"sensor-luftdaten-aberdeen/data/luftdaten-disordered-2018-04.tar.gz", "tar", luft, 2_603},
	} {
		t.Run(c.path, func(t *testing.T) {
			s, errs := connect.NewStream("s", c.columns, "ts")
			require.Empty(t, errs)
			path, o := filepath.Join(data, c.path), format.DefaultOptions(c.format)
			if c.format == "tar" {
				path, o = filepath.Join(unpack(t, path), "**", "*.csv"), format.DefaultOptions(format.CSV)
				o.Delimiter = ';'
			}
			src := &source{sourceConfig{stream: s, patterns: []string{path}, format: o}, connect.Env{}}
			r, err := src.Open(context.Background(), nil)
			require.NoError(t, err)
			rows, last := 0, &connect.Block{}
			for {
				b, err := r.Next(context.Background())
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				for i := range b.Rejects {
					t.Errorf("%v", b.Rejects[i].Error())
				}
				if rows, last = rows+b.Rows(), b; b.Batch != nil {
					require.NoError(t, b.Batch.Check())
				}
			}
			require.NoError(t, r.Close())
			require.Equal(t, c.rows, rows)
			require.Equal(t, connect.Status{State: connect.Ended, End: connect.EndEOF}, last.Status)
		})
	}
}

// unpack extracts the files of an archive into a new folder.
func unpack(t *testing.T, path string) string {
	dir := t.TempDir()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			return dir
		}
		require.NoError(t, err)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(in)
		require.NoError(t, err)
		put(t, filepath.Join(dir, filepath.Clean("/"+strings.TrimPrefix(h.Name, "./"))), body)
	}
}
