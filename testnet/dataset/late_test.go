package dataset

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

// readCSV returns the records of a file below its header.
func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	return rows[1:]
}

// TestGroundTruthLate: with a slack, every row is accepted or counted late, and at least those are late whose whole
// window has closed. More may be: a row behind the slack is late even in a window that is still open.
func TestGroundTruthLate(t *testing.T) {
	data, ok := dataDir(t)
	if !ok {
		return
	}
	for _, n := range Networks() {
		t.Run(n.Name, func(t *testing.T) {
			before := n.Rows + 1
			for _, row := range readCSV(t, filepath.Join(data, n.Expected, "late_rows.csv")) {
				closed, err := strconv.ParseUint(row[1], 10, 64)
				require.NoError(t, err)
				j := networkJob(&n, data)
				j.set = append([]query.Edit{{Name: "streams.conns.max_out_of_order", Value: row[0] + "s"}}, j.set...)
				_, report := j.run(t)
				s := report.Streams[0]
				require.Equal(t, n.Rows, s.Rows+s.Late, "slack %s s", row[0])
				require.GreaterOrEqual(t, s.Late, closed, "slack %s s", row[0])
				require.LessOrEqual(t, s.Late, before, "more slack, more late rows at %s s", row[0])
				if behind, known := n.Behind[row[0]]; known {
					require.Equal(t, behind, s.Late, "slack %s s", row[0])
				}
				before = s.Late
				t.Logf("slack %4s s: %d late, %d in closed windows", row[0], s.Late, closed)
			}
		})
	}
}
