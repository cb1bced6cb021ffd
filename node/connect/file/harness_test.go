package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

// numbers is a stream of one number a row.
func numbers(t testing.TB) *connect.Stream {
	s, errs := connect.NewStream("numbers", []connect.ColumnSpec{{Name: "n", Type: tuple.Of(tuple.Int64)}}, "")
	require.Empty(t, errs)
	return s
}

func jsonNumbers(from, to int) []byte {
	var b bytes.Buffer
	for n := from; n < to; n++ {
		fmt.Fprintf(&b, "{\"n\":%d}\n", n)
	}
	return b.Bytes()
}

func put(t testing.TB, path string, data []byte) string {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

func appendTo(t testing.TB, path string, data []byte) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	require.NoError(t, err)
	_, err = f.Write(data)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func gz(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zst(t testing.TB, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return w.EncodeAll(data, nil)
}

// result is everything a bounded source delivered.
type result struct {
	rows    []int64
	rejects []string
	end     connect.Status
	pos     [][]byte // after each block
	after   []int    // rows by then
}

func drain(t testing.TB, r connect.Reader) result {
	out, err := tryDrain(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return out
}

func tryDrain(r connect.Reader) (out result, err error) {
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out.add(b)
	}
}

func (r *result) add(b *connect.Block) {
	if b.Rows() > 0 {
		r.rows = append(r.rows, b.Batch.Cols[0].Int...)
	}
	for i := range b.Rejects {
		r.rejects = append(r.rejects, b.Rejects[i].Error())
	}
	if b.Status.State == connect.Ended {
		r.end = b.Status
	}
	r.pos, r.after = append(r.pos, b.Pos), append(r.after, len(r.rows))
}

func bounded(t testing.TB, env connect.Env, pos []byte, paths ...string) connect.Reader {
	src := &source{sourceConfig{stream: numbers(t), patterns: paths, format: format.DefaultOptions(format.JSONL)}, env}
	r, err := src.Open(context.Background(), pos)
	require.NoError(t, err)
	return r
}

func follow(t testing.TB, path string, pos []byte) *follower {
	src := &source{sourceConfig{stream: numbers(t), patterns: []string{path}, format: format.DefaultOptions(format.JSONL), follow: true}, connect.Env{}}
	r, err := src.Open(context.Background(), pos)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return &follower{t: t, r: r}
}

// follower reads a followed file until something is there, which must not take longer than a generous limit.
type follower struct {
	t    testing.TB
	r    connect.Reader
	rows []int64
	pos  []byte
	seen []connect.Status
}

func (f *follower) next() *connect.Block {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	b, err := f.r.Next(ctx)
	require.NoError(f.t, err, "rows so far: %v", f.rows)
	if b.Rows() > 0 {
		f.rows = append(f.rows, b.Batch.Cols[0].Int...)
	}
	if b.Pos != nil {
		f.pos = b.Pos
	}
	f.seen = append(f.seen, b.Status)
	return b
}

// until reads until there are rows 0 to n-1, and fails on any other row.
func (f *follower) until(n int) {
	f.t.Helper()
	for len(f.rows) < n {
		f.next()
	}
	require.Equal(f.t, upTo(n), f.rows)
}

// state reads until the source is in a state.
func (f *follower) state(s connect.State) connect.Status {
	for {
		if b := f.next(); b.Status.State == s {
			return b.Status
		}
	}
}

// silent checks that nothing more is there at the moment.
func (f *follower) silent() {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	for {
		b, err := f.r.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return
		}
		require.NoError(f.t, err)
		require.Zero(f.t, b.Rows(), "rows where there should be none")
	}
}

func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}
