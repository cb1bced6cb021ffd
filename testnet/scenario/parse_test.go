package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/spec"
	"fednode/testnet"
)

// TestParse: every kind of line.
func TestParse(t *testing.T) {
	s, err := Parse("/fed/a.scenario", []byte(`# A title.
# More.
testnet net.toml
wait 500ms
  loss south core#1 20% for 1m
within 5s: query watch is stable on core#2
within 5s: every node runs
within 5s: all nodes have met
within 5s: node south runs
never: a stable row is undone
never: query watch is upstream_failure
finally: the stable stream equals an undisturbed run
finally: longest delay ≤ 3.3s
finally: tentative rows = 0
`))
	require.NoError(t, err)
	require.Equal(t, "a", s.Name)
	require.Equal(t, "A title.", s.Title)
	require.Equal(t, "/fed/net.toml", s.Testnet)
	require.Len(t, s.Steps, 6)
	require.Equal(t, 500*time.Millisecond, s.Steps[0].Wait)
	require.Equal(t, &testnet.Fault{Kind: testnet.FaultLoss, Targets: []string{"south", "core#1"}, Share: 0.2, For: time.Minute}, s.Steps[1].Fault)
	require.Equal(t, 3, s.Steps[1].Pos.Column)
	require.Equal(t, "core#2", s.Steps[2].Until.node)
	require.Len(t, s.Never, 2)
	require.Len(t, s.Finally, 3)
	require.True(t, s.Finally[1].holds(3.3))
	require.False(t, s.Finally[1].holds(3.31))
}

// TestParseWrong: every mistake is said at once, with its place.
func TestParseWrong(t *testing.T) {
	_, err := Parse("b.scenario", []byte(`wait long
testnet late.toml
wiat 5s
within 5s query watch is stable
within 5s: a stable row is undone
within 5s: query watch is stabel
within 5s:
never a stable row is undone
never: every node runs
finally: longest delay about 3s
finally: longest delay <= 3
finally: tentative rows = -1
finally: the moon is full
finally: longest delay
kill a b c
partition core#0
finally:
`))
	var e *spec.Error
	require.ErrorAs(t, err, &e)
	var places []string
	for _, p := range e.Problems {
		require.Equal(t, "b.scenario", p.Pos.File)
		places = append(places, strings.TrimPrefix(p.Pos.String(), "b.scenario:"))
	}
	require.Equal(t, []string{"1:6", "3:1", "4:1", "5:12", "6:27", "7:1", "8:1", "9:8", "10:24", "11:27", "12:27", "13:10", "14:10", "15:1", "16:11", "17:9"}, places, err.Error())
	for _, says := range []string{"did you mean `wait`", "did you mean `stable`", "cannot stand after", "compares nothing", "is no duration", "is no number of rows", "expected one of: query NAME is STATE", "expected what has to hold", "is no replica"} {
		require.ErrorContains(t, err, says)
	}
	_, err = Parse("c.scenario", []byte("# nothing\n"))
	require.ErrorContains(t, err, "nothing is done")
	_, err = Parse("d.scenario", []byte("testnet a\ntestnet b\nwait 1s 2s\n"))
	require.ErrorContains(t, err, "d.scenario:2:1: the testnet is named twice")
	require.ErrorContains(t, err, "d.scenario:3:1")
}

// TestScenarios: every scenario that is kept can be read, and its testnet too.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../scenarios/*.scenario")
	require.NoError(t, err)
	long, err := filepath.Glob("../scenarios/long/*.scenario")
	require.NoError(t, err)
	files = append(files, long...)
	require.NotEmpty(t, files)
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		s, err := Parse(file, src)
		require.NoError(t, err)
		require.NotEmpty(t, s.Title, file)
		require.NotEmpty(t, s.Finally, file)
		_, err = testnet.ReadSpec(s.Testnet)
		require.NoError(t, err, file)
	}
}

// FuzzParse: no file makes it fail otherwise than with places.
func FuzzParse(f *testing.F) {
	f.Add("# t\ntestnet a\nwait 1s\nwithin 2s: query q is stable on c#1\nfinally: lost rows = 0")
	f.Fuzz(func(t *testing.T, src string) {
		if _, err := Parse("f", []byte(src)); err != nil {
			require.ErrorAs(t, err, new(*spec.Error))
		}
	})
}
