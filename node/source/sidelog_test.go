package source

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// TestSidesOfACopiedLog shows that a log which was copied goes on in a new generation, where ids of the side streams begin
// again as those of the stream do, and that the source is not begun anew, even if the copy stops before its first commit.
func TestSidesOfACopiedLog(t *testing.T) {
	blocks := []func() connect.Block{rows(1000), broken(2, "two"), rows(1), rows(2000)}
	dir := t.TempDir()
	first := &script{blocks: blocks, more: make(chan struct{})}
	p, err := Open(sideConfig(dir, first))
	require.NoError(t, err)
	stop := running(t, p)
	collect(t, p, beginning, 2)
	stop()

	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	second := &script{blocks: append(blocks, broken(5, "five"), rows(2), rows(3000))}
	p, err = Open(sideConfig(copied, second))
	require.NoError(t, err)
	require.Equal(t, uint64(2), p.Head().Generation)
	require.NoError(t, p.Close())

	p, err = Open(sideConfig(copied, second))
	require.NoError(t, err)
	defer running(t, p)()
	values, _ := collect(t, p, beginning, 0)
	require.Equal(t, []int64{3000}, values)
	late, at := collectSide(t, p.Sides()[Late], beginning, 0)
	require.Equal(t, []string{`late {"v":2,"k":"at 2"}`}, late)
	require.Equal(t, tuple.Position{Generation: 2, ID: 1, Time: tuple.MaxTime}, at)
	unreadable, _ := collectSide(t, p.Sides()[Unreadable], beginning, 0)
	require.Equal(t, []string{"wrong_type v in.csv 5 50 no number 66697665"}, unreadable)
}

// TestDamageToWhatIsSetAside shows that where the disk has lost a record, the side stream says so and goes on behind it.
func TestDamageToWhatIsSetAside(t *testing.T) {
	dir := t.TempDir()
	src := &script{blocks: []func() connect.Block{rows(1000), broken(1, "one"), broken(2, "the second"), broken(3, "three"), rows(2000)}}
	p, err := Open(sideConfig(dir, src))
	require.NoError(t, err)
	stop := running(t, p)
	collect(t, p, beginning, 0)
	stop()
	spoil(t, dir, "the second")

	p, err = Open(sideConfig(dir, src))
	require.NoError(t, err)
	defer running(t, p)()
	c, err := p.Sides()[Unreadable].Open(flow.Subscriber{From: beginning})
	require.NoError(t, err)
	defer c.Close()
	var got []string
	for {
		f, err := c.Next(t.Context())
		require.NoError(t, err)
		switch {
		case f.Kind == tuple.Gap:
			require.EqualValues(t, 2, f.FirstID)
			require.Contains(t, f.Reason, ".seg")
			got = append(got, "gap")
		case f.Kind == tuple.Insertion:
			got = append(got, columns(f.Batch, 0, "line"))
		case f.Time == tuple.MaxTime:
			require.Equal(t, []string{"1", "gap", "3"}, got)
			return
		}
	}
}

// spoil changes a byte of the only place in a log's files that holds text.
func spoil(t *testing.T, dir, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	for _, name := range files {
		body, err := os.ReadFile(name)
		require.NoError(t, err)
		if at := bytes.Index(body, []byte(text)); at >= 0 {
			body[at] ^= 0xff
			require.NoError(t, os.WriteFile(name, body, 0o600))
			return
		}
	}
	t.Fatalf("no file in %s holds %q", dir, text)
}
