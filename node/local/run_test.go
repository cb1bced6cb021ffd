package local

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

const start = 1_700_000_000 // of the tests' rows, in seconds: the beginning of a window

// inOrder is n rows, one a second, of two keys in turn.
func inOrder(n int) string {
	return rows(n, func(i int) (int, string, int) { return start + i, string(rune('a' + i%2)), i })
}

// TestBroken: a record that cannot be read is set aside and counted with its reason, or ends the run if the stream says so.
func TestBroken(t *testing.T) {
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", inOrder(4)+"1700000001,a,many\n,b,1\n"+"1700000002,a,1\n")
	report, err := w.run(t)
	require.NoError(t, err)
	s := report.Streams[0]
	require.True(t, report.Complete())
	require.Equal(t, [3]uint64{5, 2, 2}, [3]uint64{s.Rows, s.Errors, s.Aside()})
	require.Equal(t, map[string]uint64{"wrong_type": 1, "no_time": 1}, s.Reasons)
	require.Contains(t, s.First, "in.csv:6: column v")
	require.Equal(t, "at,k,n,sum\n1700000000,a,3,3\n1700000000,b,2,4\n", w.get(t, "out.csv"))
}

func TestBrokenFails(t *testing.T) {
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", inOrder(4)+"1700000001,a,many\n")
	report, err := w.run(t, "streams.in.on_error=fail")
	var reject *RejectError
	require.ErrorAs(t, err, &reject)
	require.Nil(t, report)
	require.Contains(t, err.Error(), "in.csv:6")
	require.Contains(t, err.Error(), `on_error = "fail"`)
	require.NoFileExists(t, filepath.Join(w.dir, "out.csv"), "no result of a run that failed")
}

// TestTruncated: a gz that stops in the middle gives what was read of it, and says that it was not whole.
func TestTruncated(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(inOrder(20_000)))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	w := newWorkplace(t, counts)
	w.put(t, "in.csv.gz", string(packed.Bytes()[:packed.Len()/2]))
	report, err := w.run(t, "streams.in.path=in.csv.gz")
	require.NoError(t, err)
	require.False(t, report.Complete())
	s := report.Streams[0]
	require.Equal(t, connect.EndTruncated, s.End)
	require.Contains(t, s.Detail, "in.csv.gz")
	require.Greater(t, s.Rows, uint64(1000))
	require.Less(t, s.Rows, uint64(20_000))
	require.Greater(t, strings.Count(w.get(t, "out.csv"), "\n"), int(s.Rows/10), "two results for each ten rows")
}

// TestVanished: of several files the others count, and the run says that one was not there.
func TestVanished(t *testing.T) {
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", inOrder(4))
	report, err := w.run(t, `streams.in.path=["gone.csv", "in.csv"]`)
	require.NoError(t, err)
	require.False(t, report.Complete())
	require.Equal(t, connect.EndVanished, report.Streams[0].End)
	require.Equal(t, uint64(4), report.Streams[0].Rows)
	require.Equal(t, "at,k,n,sum\n1700000000,a,2,2\n1700000000,b,2,4\n", w.get(t, "out.csv"))

	_, err = w.run(t, "streams.in.path=missing.csv")
	require.ErrorIs(t, err, os.ErrNotExist, "a single file that is not there is an error")
}

func TestEmpty(t *testing.T) {
	for name, body := range map[string]string{"nothing": "", "a header": "s,k,v\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorkplace(t, counts)
			w.put(t, "in.csv", body)
			report, err := w.run(t)
			require.NoError(t, err)
			require.True(t, report.Complete(), "%+v", report.Streams[0])
			require.Zero(t, report.Streams[0].Rows)
			require.Equal(t, "at,k,n,sum\n", w.get(t, "out.csv"))
		})
	}
}

func TestUnboundedSourceIsRefused(t *testing.T) {
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", inOrder(4))
	_, err := w.run(t, "streams.in.follow=true", "streams.in.max_out_of_order=1s")
	require.ErrorContains(t, err, "stream in: its source does not end")
	require.NoFileExists(t, filepath.Join(w.dir, "out.csv"))
}

// TestStandardStreams: the path - is JSON lines, in and out.
func TestStandardStreams(t *testing.T) {
	w := newWorkplace(t, counts)
	var out bytes.Buffer
	w.opt.Env.Stdin = strings.NewReader(`{"s":1700000001,"k":"a","v":2}` + "\n" + `{"s":1700000000,"k":"a"}` + "\n")
	w.opt.Env.Stdout = &out
	report, err := w.run(t, "streams.in.path=-", "outputs.out.path=-")
	require.NoError(t, err)
	require.Equal(t, uint64(2), report.Streams[0].Rows)
	require.Equal(t, `{"at":1700000000,"k":"a","n":2,"sum":2}`+"\n", out.String())
}

// TestLate: with slack, a row is late by its own time and the largest before it, whatever the batches are.
func TestLate(t *testing.T) {
	at := []int{0, 10, 5, 4, 30, 24, 25, 24, 29} // slack 5: 4, 24 and 24 are late
	for _, blockRows := range []int{1, 3, 0} {
		w := newWorkplace(t, counts)
		w.opt.Env.BlockRows = blockRows
		w.put(t, "in.csv", rows(len(at), func(i int) (int, string, int) { return start + at[i], "a", 1 }))
		report, err := w.run(t, "streams.in.max_out_of_order=5s")
		require.NoError(t, err)
		require.Equal(t, [3]uint64{6, 3, 3}, [3]uint64{report.Streams[0].Rows, report.Streams[0].Late, report.Streams[0].Aside()})
		require.Equal(t, "at,k,n,sum\n1700000000,a,2,2\n1700000010,a,1,1\n1700000020,a,2,2\n1700000030,a,1,1\n", w.get(t, "out.csv"))
	}
}

// TestProgress: a run tells how far it has come.
func TestProgress(t *testing.T) {
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", inOrder(100))
	var seen []Progress
	w.opt.Progress = func(p Progress) { seen = append(seen, p) }
	_, err := w.run(t)
	require.NoError(t, err)
	require.NotEmpty(t, seen)
	require.LessOrEqual(t, seen[len(seen)-1].Rows, uint64(100))
}
