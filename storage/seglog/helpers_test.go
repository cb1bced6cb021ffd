package seglog_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// open opens the log in dir and closes it at the end of the test.
func open(t testing.TB, dir string, o seglog.Options) (*seglog.Log, seglog.Recovery) {
	t.Helper()
	l, rec, err := seglog.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l, rec
}

// scratch returns a directory in memory where there is one: for tests that open hundreds of logs and ask nothing of the
// disk.
func scratch(t testing.TB) string {
	t.Helper()
	const shared = "/dev/shm"
	parent := os.TempDir()
	if st, err := os.Stat(shared); err == nil && st.IsDir() {
		parent = shared
	}
	dir, err := os.MkdirTemp(parent, "seglog-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func entry(key uint64, size int) seglog.Entry {
	return seglog.Entry{Key: key, Time: tuple.Time(key * 1000), Payload: payload(key, size)}
}

// payload is told by its key alone, so that a reader can judge every byte.
func payload(key uint64, size int) []byte {
	b := make([]byte, size+8)
	x := key*0x9E3779B97F4A7C15 + 1
	for i := 0; i < size; i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b[i:], x)
	}
	return b[:size]
}

// fill appends n records with keys first, first+1, … in synced groups.
func fill(t testing.TB, l *seglog.Log, first uint64, n, group, size int) {
	t.Helper()
	for i := 0; i < n; i += group {
		batch := make([]seglog.Entry, min(group, n-i))
		for j := range batch {
			batch[j] = entry(first+uint64(i+j), size)
		}
		_, err := l.AppendSync(context.Background(), batch...)
		require.NoError(t, err)
	}
}

// drain reads from a position to the tail. Damage is collected; any other error fails the test.
func drain(t testing.TB, l *seglog.Log, from seglog.Position) (keys []uint64, damage []*seglog.Damage) {
	t.Helper()
	r, err := l.Reader(from)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for {
		rec, ok, err := r.TryNext()
		if d := (*seglog.Damage)(nil); errors.As(err, &d) {
			damage = append(damage, d)
			continue
		}
		require.NoError(t, err)
		if !ok {
			return keys, damage
		}
		if !bytes.Equal(payload(rec.Key, len(rec.Payload)), rec.Payload) {
			require.Failf(t, "wrong payload", "key %d", rec.Key)
		}
		keys = append(keys, rec.Key)
	}
}

func span(first, last uint64) []uint64 {
	var out []uint64
	for k := first; k <= last; k++ {
		out = append(out, k)
	}
	return out
}

func missing(all, have []uint64) []uint64 {
	seen := map[uint64]bool{}
	for _, k := range have {
		seen[k] = true
	}
	var out []uint64
	for _, k := range all {
		if !seen[k] {
			out = append(out, k)
		}
	}
	return out
}

func describe(rec *seglog.Recovery) string { return fmt.Sprint(rec.String()) }
