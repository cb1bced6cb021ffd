package dataset

import (
	"archive/tar"
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

// hour is one row of an hourly result, as text.
type hour struct{ rows, count, sum, mean, min, max string }

// hourKey is a station and the beginning of its hour.
type hourKey struct{ station, start string }

// hours reads an hourly result: station, window_start, rows, count, sum, mean, min, max.
func hours(t *testing.T, r io.Reader) map[hourKey]hour {
	t.Helper()
	all, err := csv.NewReader(r).ReadAll()
	require.NoError(t, err)
	out := make(map[hourKey]hour)
	for _, c := range all[1:] {
		k := hourKey{strings.TrimSuffix(path.Base(c[0]), ".csv"), c[1]}
		if _, twice := out[k]; twice {
			t.Fatalf("%v is there twice", k)
		}
		out[k] = hour{c[2], c[3], c[4], c[5], c[6], c[7]}
	}
	return out
}

// sensors is one set of readings whose hours are known.
type sensors struct {
	name     string
	file     string // of testdata
	archive  string // a tar.gz below the data folder; or else source
	source   string // pattern below the data folder or in the archive
	expected string // file below the data folder
	only     func(station string) bool
	decimal  bool
	set      []query.Edit
	records  uint64
}

func sensorSets() []sensors {
	const luft, nab = "sensor-luftdaten-aberdeen/", "traffic-nab/"
	every := func(string) bool { return true }
	// The temperatures have up to 16 decimals; all else has at most two.
	counted := func(station string) bool { return !strings.Contains(station, "temperature") }
	return []sensors{
		{name: "luftdaten", file: "sensors.toml", archive: luft + "data/luftdaten-aberdeen-2019-05.tar.gz", source: "**/*.csv",
			expected: luft + "expected/2019-05/hourly.csv.gz", only: every, decimal: true, records: 302_564},
		{name: "luftdaten disordered", file: "sensors.toml", archive: luft + "data/luftdaten-disordered-2018-04.tar.gz", source: "**/*.csv",
			expected: luft + "expected/disordered-2018-04/hourly.csv.gz", only: every, decimal: true, records: 2_603},
		{name: "traffic as floats", file: "traffic.toml", source: nab + "data/*.csv", expected: nab + "expected/hourly.csv.gz", only: every, records: 55_946},
		{name: "traffic as decimals", file: "traffic.toml", source: nab + "data/[Tosn]*.csv", expected: nab + "expected/hourly.csv.gz", only: counted, decimal: true,
			set: []query.Edit{{Name: "streams.readings.columns.value.type", Value: "decimal(18,2)"}}, records: 25_984},
	}
}

// TestGroundTruthHourly: counts, minima and maxima are the known ones; so are sums and means of decimals, digit for
// digit; those of floats to nine digits.
func TestGroundTruthHourly(t *testing.T) {
	data, ok := dataDir(t)
	if !ok {
		return
	}
	command := buildCommand(t)
	for _, s := range sensorSets() {
		t.Run(s.name, func(t *testing.T) {
			base := data
			if s.archive != "" {
				base = unpack(t, filepath.Join(data, s.archive))
			}
			want := s.want(t, data)
			j := job{file: s.file, stream: "readings", source: filepath.Join(base, s.source), outputs: []string{"hourly"}, set: s.set}
			dir, out := command.run(t, &j)
			require.Equal(t, s.records, out.Streams["readings"].RowsIn)
			s.check(t, want, filepath.Join(dir, "hourly.csv"))
			sum := fileSum(t, filepath.Join(dir, "hourly.csv"))
			for _, rows := range []int{4096, 7} {
				j.batchRows = rows
				dir, _ := j.run(t)
				require.Equal(t, sum, fileSum(t, filepath.Join(dir, "hourly.csv")), "batches of %d", rows)
			}
		})
	}
}

// want reads the expected hours of the stations that the run covers.
func (s *sensors) want(t *testing.T, data string) map[hourKey]hour {
	all := hours(t, strings.NewReader(string(readPacked(t, filepath.Join(data, s.expected)))))
	for k := range all {
		if !s.only(k.station) {
			delete(all, k)
		}
	}
	return all
}

func (s *sensors) check(t *testing.T, want map[hourKey]hour, file string) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	got := hours(t, f)
	require.Len(t, got, len(want))
	for k, w := range want {
		g, ok := got[k]
		require.True(t, ok, "no result for %v", k)
		require.Equal(t, [2]string{w.rows, w.count}, [2]string{g.rows, g.count}, "%v", k)
		if s.decimal {
			require.Equal(t, w.decimals(t), g.withoutZeros(), "%v", k)
		} else {
			w.near(t, g, k)
		}
	}
}

// decimals returns the row as a query over decimals of scale 2 gives it: the mean has eight places, half to even. The
// expected file's own mean has six, so it is checked against its sum, and the eight follow from that.
func (h hour) decimals(t *testing.T) hour {
	t.Helper()
	if h.count == "0" {
		return h
	}
	sum, ok := new(big.Rat).SetString(h.sum)
	require.True(t, ok, h.sum)
	n, ok := new(big.Rat).SetString(h.count)
	require.True(t, ok, h.count)
	mean := sum.Quo(sum, n)
	require.Equal(t, h.mean, halfEven(mean, 6))
	h.mean = halfEven(mean, 8)
	return h.withoutZeros()
}

// halfEven returns x with so many decimals.
func halfEven(x *big.Rat, places int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(scale))
	quo, rem := new(big.Int).DivMod(scaled.Num(), scaled.Denom(), new(big.Int)) // rounds down, the remainder is positive
	switch twice := rem.Lsh(rem, 1).Cmp(scaled.Denom()); {
	case twice > 0, twice == 0 && quo.Bit(0) == 1:
		quo.Add(quo, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(quo, scale).FloatString(places)
}

// withoutZeros returns the row with its decimals in their shortest form.
func (h hour) withoutZeros() hour {
	for _, s := range []*string{&h.sum, &h.mean, &h.min, &h.max} {
		if strings.Contains(*s, ".") {
			*s = strings.TrimSuffix(strings.TrimRight(*s, "0"), ".")
		}
	}
	return h
}

// near demands equal minima and maxima, and sums and means within 1e-9 of the expected row. The expected mean has six
// places only, so it is taken from the sum.
func (h hour) near(t *testing.T, got hour, k hourKey) {
	t.Helper()
	require.Equal(t, [2]float64{number(t, h.min), number(t, h.max)}, [2]float64{number(t, got.min), number(t, got.max)}, "%v", k)
	sum, mean := number(t, h.sum), number(t, h.sum)/number(t, h.count)
	require.InDelta(t, number(t, h.mean), mean, 1e-6, "%v", k)
	require.InDelta(t, sum, number(t, got.sum), 1e-9*math.Abs(sum), "%v", k)
	require.InDelta(t, mean, number(t, got.mean), 1e-9*math.Abs(mean), "%v", k)
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return x
}

// unpack extracts the files of an archive into a new folder.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(archive)
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
		to := filepath.Join(dir, filepath.Clean("/"+h.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		body, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, body, 0o644))
	}
}
