package proc

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/testnet"
)

// The nodes of testdata/spilled.toml.
const (
	spiller = "north-2" // makes what the reader reads
	reader  = "north-3" // makes the results
)

// TestProcessSpill: a node is cut off until what it reads lies on the disk of the node that makes it. That one is killed
// meanwhile, and its disk runs full: then its input stops, and goes on when there is room. When the cut is healed the sink
// gets every row once and in order.
func TestProcessSpill(t *testing.T) {
	net := upSpilled(t)
	require.NoError(t, apply(t, net, "partition", reader))
	awaitOutput(t, net, "results are on disk", func(o *api.OutputStatus) bool { return o.SpilledBytes > 1<<19 })
	require.NoError(t, net.Kill(spiller))
	require.NoError(t, net.Restart(t.Context(), spiller))
	awaitOutput(t, net, "they are found again after a crash", func(o *api.OutputStatus) bool { return o.SpilledBytes > 1<<18 })
	require.NoError(t, apply(t, net, "disk-full", spiller))
	full := awaitOutput(t, net, "the disk is full, and then the memory", func(o *api.OutputStatus) bool { return o.SpillFailure != "" && o.Bytes >= o.Limit })
	require.Empty(t, full.Subscribers[0].Lapsed)
	require.NoError(t, apply(t, net, "heal", spiller))
	awaitOutput(t, net, "it goes on", func(o *api.OutputStatus) bool {
		return o.SpillFailure == "" && o.SpilledBytes > full.SpilledBytes && o.Head.ID > full.Head.ID
	})
	require.NoError(t, apply(t, net, "heal"))
	files, err := net.StopFeeds()
	require.NoError(t, err)
	want := sum(t, filepath.Join(queryRun(t, filepath.Join("testdata", "away.toml"), files[0], []string{"rows"}), "rows.csv"))
	awaitView(t, net, "the sink has what an undisturbed run gives", func(*testnet.View) bool { return sum(t, homeFile(net, "rows.csv")) == want })
	last := awaitOutput(t, net, "nothing is on disk any more", func(o *api.OutputStatus) bool { return o.SpilledBytes == 0 })
	t.Logf("%d rows; at most %d bytes on disk when it was full", last.Head.ID, full.SpilledBytes)
}

// TestProcessSpillDamaged: bytes of what lies on disk are flipped. The rows that are lost by that are named by a gap; all
// others come, once and in order.
func TestProcessSpillDamaged(t *testing.T) {
	net := upSpilled(t)
	require.NoError(t, apply(t, net, "partition", reader))
	awaitOutput(t, net, "results are on disk", func(o *api.OutputStatus) bool { return o.SpilledBytes > 1<<19 })
	require.NoError(t, net.Kill(spiller))
	require.NotZero(t, flip(t, filepath.Join(net.Dir(), spiller, "data", "spill")))
	require.NoError(t, net.Restart(t.Context(), spiller))
	require.NoError(t, apply(t, net, "heal"))
	files, err := net.StopFeeds()
	require.NoError(t, err)
	want := lines(t, filepath.Join(queryRun(t, filepath.Join("testdata", "away.toml"), files[0], []string{"rows"}), "rows.csv"))
	var got []string
	awaitView(t, net, "the sink has the last row", func(*testnet.View) bool {
		got = lines(t, homeFile(net, "rows.csv"))
		return len(got) > 0 && got[len(got)-1] == want[len(want)-1]
	})
	rest := want
	for _, row := range got {
		for len(rest) > 0 && rest[0] != row {
			rest = rest[1:]
		}
		require.NotEmpty(t, rest, "the row %s is wrong, repeated or out of order", row)
		rest = rest[1:]
	}
	require.Less(t, len(got), len(want), "nothing was lost: the damage was not where the rows are")
	log, err := os.ReadFile(filepath.Join(net.Home(), "log", "fednode.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "stable tuples are lost")
	t.Logf("%d of %d rows", len(got), len(want))
}

// upSpilled starts the network; when it returns results come to the sink.
func upSpilled(t *testing.T) *testnet.Net {
	t.Helper()
	s, err := testnet.ReadSpec(filepath.Join("testdata", "spilled.toml"))
	require.NoError(t, err)
	net := up(t, s, nil)
	awaitView(t, net, "results come", func(v *testnet.View) bool { text, _ := os.ReadFile(homeFile(net, "rows.csv")); return len(text) > 1000 })
	return net
}

// apply does a fault.
func apply(t *testing.T, net *testnet.Net, words ...string) error {
	t.Helper()
	f, err := testnet.ParseFault(words)
	require.NoError(t, err)
	_, err = net.Apply(t.Context(), f)
	return err
}

// awaitOutput waits until the output that the reader reads is as it should be.
func awaitOutput(t *testing.T, net *testnet.Net, what string, ok func(o *api.OutputStatus) bool) (seen api.OutputStatus) {
	t.Helper()
	awaitView(t, net, what, func(v *testnet.View) bool {
		for _, n := range v.Nodes {
			if n.ID != spiller || n.Status == nil {
				continue
			}
			for _, q := range n.Status.Queries {
				for _, f := range q.Fragments {
					for i := range f.Outputs {
						seen = f.Outputs[i]
						return ok(&seen)
					}
				}
			}
		}
		return false
	})
	return seen
}

// flip flips bits of what is written in the files of a folder, in the middle of it, and says in how many files.
func flip(t *testing.T, dir string) (files int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		written := len(bytes.TrimRight(b, "\x00")) // the files are longer than what is in them
		if written < 1<<10 {
			return nil
		}
		b[written/2] ^= 0x10
		files++
		return os.WriteFile(path, b, 0o600)
	}))
	return files
}

// lines returns the lines of a file that are whole.
func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	end := bytes.LastIndexByte(text, '\n')
	return strings.Split(string(text[:max(0, end)]), "\n")
}
