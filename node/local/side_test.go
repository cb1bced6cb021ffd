package local

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/file"
	"fednode/node/source"
)

// takeSides gives the run a sink of each kind for the stream "in".
func (w *workplace) takeSides(t *testing.T) (late, errors string) {
	t.Helper()
	w.opt.Sides = nil
	paths := [2]string{filepath.Join(w.dir, "late.csv"), filepath.Join(w.dir, "errors.csv")}
	for _, k := range []source.SideKind{source.Late, source.Unreadable} {
		to, err := file.NewSink(&connect.SinkStream{Name: "in" + k.Suffix(), Schema: k.Schema(), Bounded: true}, paths[k], w.opt.Env)
		require.NoError(t, err)
		w.opt.Sides = append(w.opt.Sides, SideSink{Stream: "in", Kind: k, Path: paths[k], Sink: to})
	}
	return paths[source.Late], paths[source.Unreadable]
}

// TestSidesHoldWhatIsMissing: a late row with the limit it was held against, a row from the future, and a line that cannot
// be read with its place and its first 4 KiB; whatever the size of the batches.
func TestSidesHoldWhatIsMissing(t *testing.T) {
	long := strings.Repeat("y", 10_000)
	body := "s,k,v\n0,a,1\n1,a,1\n9,a,1\n0.5,b,2\n7,b,3\nx,b,4\n8,c,many" + long + "\n7258118400,d,5\n10,e,6\n"
	for _, rows := range []int{1, 3, 4096} {
		w := newWorkplace(t, counts)
		w.put(t, "in.csv", body)
		w.opt.Env.BlockRows = rows
		late, errors := w.takeSides(t)
		rep, err := w.run(t, "streams.in.max_out_of_order=2s", "streams.in.max_future_skew=1m")
		require.NoError(t, err)
		in := rep.Streams[0]
		require.Equal(t, [4]uint64{5, 1, 1, 2}, [4]uint64{in.Rows, in.Late, in.Future, in.Errors})
		require.Equal(t, [2]string{late, errors}, [2]string{in.LatePath, in.ErrorsPath})

		got := strings.Split(w.get(t, "late.csv"), "\n")
		require.Len(t, got, 4)
		require.Equal(t, "reason,limit,time,row", got[0])
		require.Equal(t, `late,1970-01-01T00:00:07Z,1970-01-01T00:00:00.5Z,"{""s"":""1970-01-01T00:00:00.5Z"",""k"":""b"",""v"":2}"`, got[1])
		reason, rest, _ := strings.Cut(got[2], ",")
		limit, rest, _ := strings.Cut(rest, ",")
		require.Equal(t, `future 2200-01-01T00:00:00Z,"{""s"":""2200-01-01T00:00:00Z"",""k"":""d"",""v"":5}"`, reason+" "+rest)
		ahead, err := time.Parse(time.RFC3339, limit)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(time.Minute), ahead, time.Minute, "the limit is the arrival and a minute")

		got = strings.Split(w.get(t, "errors.csv"), "\n")
		require.Len(t, got, 4)
		require.Equal(t, "reason,field,file,line,offset,detail,raw", got[0])
		in2 := filepath.Join(w.dir, "in.csv")
		require.Contains(t, got[1], fmt.Sprintf("wrong_type,s,%s,7,", in2))
		require.True(t, strings.HasSuffix(got[1], ","+hex.EncodeToString([]byte("x,b,4"))), got[1])
		require.Contains(t, got[2], fmt.Sprintf("wrong_type,v,%s,8,", in2))
		raw := got[2][strings.LastIndex(got[2], ",")+1:]
		require.Equal(t, hex.EncodeToString([]byte(("8,c,many" + long)[:connect.MaxRaw])), raw)
	}
}

// TestSidesOfPolicies: what is dropped or skipped is counted and in no file; a run that fails leaves no file behind.
func TestSidesOfPolicies(t *testing.T) {
	const body = "s,k,v\n9,a,1\n0,b,2\nx,b,4\n"
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", body)
	w.takeSides(t)
	rep, err := w.run(t, "streams.in.max_out_of_order=0s", "streams.in.late=drop", "streams.in.on_error=skip")
	require.NoError(t, err)
	require.Equal(t, [2]uint64{1, 1}, [2]uint64{rep.Streams[0].Late, rep.Streams[0].Errors})
	require.Equal(t, "reason,limit,time,row\n", w.get(t, "late.csv"))
	require.Equal(t, "reason,field,file,line,offset,detail,raw\n", w.get(t, "errors.csv"))

	w = newWorkplace(t, counts)
	w.put(t, "in.csv", body)
	late, errors := w.takeSides(t)
	_, err = w.run(t, "streams.in.max_out_of_order=0s", "streams.in.on_error=fail")
	require.Error(t, err)
	require.NoFileExists(t, late)
	require.NoFileExists(t, errors)
}
