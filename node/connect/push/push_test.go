package push

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

func numbers(t testing.TB) *connect.Stream {
	s, errs := connect.NewStream("numbers", []connect.ColumnSpec{{Name: "n", Type: tuple.Of(tuple.Int64)}}, "")
	require.Empty(t, errs)
	return s
}

func lines(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&b, "{\"n\":%d}\n", n)
	}
	return b.String()
}

func decode(t testing.TB, body string) []*connect.Block {
	blocks, err := Decode(context.Background(), numbers(t), format.DefaultOptions(format.JSONL), "push", strings.NewReader(body), DefaultMaxBody)
	require.NoError(t, err)
	return blocks
}

func TestBodies(t *testing.T) {
	ctx := context.Background()
	for contentType, body := range map[string]string{
		"application/x-ndjson":      lines(0, 3),
		"text/csv; charset=utf-8":   "n\n0\n1\n2\n",
		"text/tab-separated-values": "n\tx\n0\t\n1\t\n2\t\n",
	} {
		o, err := FormatOf(contentType)
		require.NoError(t, err)
		blocks, err := Decode(ctx, numbers(t), o, "push", strings.NewReader(body), DefaultMaxBody)
		require.NoError(t, err)
		require.Len(t, blocks, 1)
		require.Equal(t, []int64{0, 1, 2}, blocks[0].Batch.Cols[0].Int)
	}
	_, err := FormatOf("image/png")
	require.ErrorIs(t, err, ErrContentType)

	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err = w.Write([]byte(lines(0, 10_000)))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	o := format.DefaultOptions(format.JSONL)
	blocks, err := Decode(ctx, numbers(t), o, "push", bytes.NewReader(z.Bytes()), DefaultMaxBody)
	require.NoError(t, err)
	require.Len(t, blocks, 3)
	_, err = Decode(ctx, numbers(t), o, "push", bytes.NewReader(z.Bytes()), 1000)
	require.ErrorIs(t, err, ErrTooLarge, "the limit counts uncompressed bytes")
	_, err = Decode(ctx, numbers(t), o, "push", strings.NewReader(lines(0, 10)), int64(len(lines(0, 10))))
	require.NoError(t, err, "exactly the limit")
	_, err = Decode(ctx, numbers(t), o, "push", bytes.NewReader(z.Bytes()[:z.Len()/2]), DefaultMaxBody)
	var cut *format.InputError
	require.ErrorAs(t, err, &cut, "a cut body gives no rows")

	blocks, err = Decode(ctx, numbers(t), o, "push", strings.NewReader("{\"n\":1}\nbroken\n"), DefaultMaxBody)
	require.NoError(t, err)
	require.Len(t, blocks[0].Rejects, 1)
	require.Equal(t, connect.Place{File: "push", Line: 2, Offset: 8}, blocks[0].Rejects[0].Place)
}

// A push ends when its rows are durable, not before.
func TestPushWaitsForTheLog(t *testing.T) {
	ctx := context.Background()
	in := NewInbox(4)
	require.ErrorIs(t, in.Push(ctx, "", nil), ErrClosed)
	r, err := in.Open(ctx, nil)
	require.NoError(t, err)
	_, err = in.Open(ctx, nil)
	require.ErrorContains(t, err, "read already")
	b, err := r.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, connect.Idle, b.Status.State)

	done := make(chan error, 1)
	blocks := decode(t, lines(0, 5000))
	go func() { done <- in.Push(ctx, "", blocks) }()
	rows := 0
	for rows < 5000 {
		b, err := r.Next(ctx)
		require.NoError(t, err)
		rows += b.Rows()
		require.Empty(t, done)
	}
	r.(connect.Durable).Durable()
	require.NoError(t, <-done)
}

// A sender that does not know whether its push arrived sends it again, also after a restart: every row is there once.
func TestRepeatedPushes(t *testing.T) {
	ctx := context.Background()
	body := lines(0, 10_000) // three blocks
	for crashAfter := 0; crashAfter <= 3; crashAfter++ {
		in := NewInbox(4)
		r, err := in.Open(ctx, nil)
		require.NoError(t, err)
		var pos []byte
		var rows []int64
		failed := make(chan error, 1)
		blocks := decode(t, body)
		go func() { failed <- in.Push(ctx, "key", blocks) }()
		for range crashAfter {
			b := nextRows(t, r)
			rows, pos = append(rows, b.Batch.Cols[0].Int...), b.Pos // made durable together
		}
		require.NoError(t, r.Close())
		<-failed

		in = NewInbox(4)
		r, err = in.Open(ctx, pos)
		require.NoError(t, err)
		pushed := make(chan error, 3)
		var wg sync.WaitGroup
		for range 2 {
			blocks := decode(t, body)
			wg.Go(func() { pushed <- in.Push(ctx, "key", blocks) })
		}
		go func() {
			wg.Wait()
			pushed <- r.Close()
			close(pushed)
		}()
		for {
			b, err := r.Next(ctx)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if b.Rows() > 0 {
				rows = append(rows, b.Batch.Cols[0].Int...)
			}
			r.(connect.Durable).Durable()
		}
		for err := range pushed {
			require.NoError(t, err)
		}
		require.Len(t, rows, 10_000)
		for i, n := range rows {
			require.EqualValues(t, i, n)
		}
	}
}

func nextRows(t testing.TB, r connect.Reader) *connect.Block {
	for {
		b, err := r.Next(context.Background())
		require.NoError(t, err)
		if b.Rows() > 0 {
			return b
		}
	}
}

func TestABusyStreamSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in := NewInbox(1)
	r, err := in.Open(ctx, nil)
	require.NoError(t, err)
	waiting := make(chan error, 1)
	blocks := decode(t, lines(0, 1))
	go func() { waiting <- in.Push(ctx, "", blocks) }()
	require.Eventually(t, func() bool { return len(in.waiting) > 0 }, time.Minute, time.Millisecond, "the push above waits")
	require.ErrorIs(t, in.Push(ctx, "", decode(t, lines(1, 2))), ErrBusy)
	cancel()
	require.ErrorIs(t, <-waiting, context.Canceled)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, err = r.Next(context.Background())
	require.Equal(t, io.EOF, err)
}

func TestOldKeysAreForgotten(t *testing.T) {
	k, err := decodeKeys(nil)
	require.NoError(t, err)
	for i := range maxKeys + 10 {
		k.note(fmt.Sprint(i), 1)
	}
	require.Zero(t, k.seen("0"))
	require.Equal(t, 1, k.seen(fmt.Sprint(maxKeys)))
	again, err := decodeKeys(k.encode())
	require.NoError(t, err)
	require.Equal(t, k, again)
	require.Less(t, len(k.encode()), connect.MaxPosition)
	_, err = decodeKeys([]byte{5, 1, 2})
	require.Error(t, err)
}
