package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestConnections: equal descriptions give equal files; records lie within the disorder, and the scanner's are counted.
func TestConnections(t *testing.T) {
	c := Connections{Seed: 3, Bytes: 1 << 20, Sources: 100, PerSecond: 50, Disorder: 40_000}
	var a, b bytes.Buffer
	w, err := c.Write(&a)
	require.NoError(t, err)
	again, err := c.Write(&b)
	require.NoError(t, err)
	require.Equal(t, w, again)
	require.True(t, bytes.Equal(a.Bytes(), b.Bytes()))
	require.Equal(t, int64(a.Len()), w.Bytes)
	require.GreaterOrEqual(t, w.Bytes, c.Bytes)

	rows, err := csv.NewReader(&a).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, int(w.Rows)+1)
	high, scans, sources := time.Time{}, make(map[int64]int64), make(map[string]bool)
	for _, r := range rows[1:] {
		at, err := time.Parse(time.RFC3339, r[0])
		require.NoError(t, err)
		if at.After(high) {
			high = at
		} else if behind := high.Sub(at); behind >= 40*time.Millisecond {
			t.Fatalf("%v lies %v behind", at, behind)
		}
		if sources[r[2]] = true; r[2] == Scanner {
			scans[at.Unix()/60*60]++
		}
	}
	require.Equal(t, w.Scans, scans)
	require.Len(t, sources, 101)

	c.Seed++
	_, err = c.Write(&b)
	require.NoError(t, err)
	require.False(t, bytes.HasPrefix(b.Bytes()[w.Bytes:], b.Bytes()[:1000]), "another seed, another file")
}

// TestConnectionsDiskFull: an error of the writer comes back.
func TestConnectionsDiskFull(t *testing.T) {
	full := errors.New("no room")
	_, err := Connections{Bytes: 8 << 20, Sources: 1, PerSecond: 1}.Write(failing{full})
	require.ErrorIs(t, err, full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
