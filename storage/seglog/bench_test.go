package seglog_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"fednode/storage/seglog"
)

const kib = 1024

// BenchmarkAppend is the durable append of 1 KiB records, in groups, against BenchmarkPlainFile with the same sizes.
func BenchmarkAppend(b *testing.B) {
	for _, group := range []int{1, 1024} {
		b.Run(map[int]string{1: "one", 1024: "groups_of_1024"}[group], func(b *testing.B) {
			l, _ := open(b, b.TempDir(), seglog.Options{})
			entries := make([]seglog.Entry, group)
			p := payload(1, kib)
			key := uint64(0)
			b.SetBytes(int64(group) * kib)
			b.ReportAllocs()
			for b.Loop() {
				for i := range entries {
					key++
					entries[i] = seglog.Entry{Key: key, Payload: p}
				}
				_, err := l.AppendSync(context.Background(), entries...)
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkPlainFile(b *testing.B) {
	for _, group := range []int{1, 1024} {
		b.Run(map[int]string{1: "one", 1024: "groups_of_1024"}[group], func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
			require.NoError(b, err)
			defer func() { _ = f.Close() }()
			p := payload(1, kib*group)
			b.SetBytes(int64(group) * kib)
			for b.Loop() {
				_, err := f.Write(p)
				require.NoError(b, err)
				require.NoError(b, unix.Fdatasync(int(f.Fd())))
			}
		})
	}
}

// BenchmarkRead is a reader over records of 1 KiB in the page cache.
func BenchmarkRead(b *testing.B) {
	l, _ := open(b, b.TempDir(), seglog.Options{})
	fill(b, l, 1, 50_000, 1024, kib)
	b.SetBytes(kib)
	b.ReportAllocs()
	r, err := l.Reader(l.Oldest())
	require.NoError(b, err)
	for b.Loop() {
		_, ok, err := r.TryNext()
		require.NoError(b, err)
		if !ok {
			require.NoError(b, r.Close())
			r, err = l.Reader(l.Oldest())
			require.NoError(b, err)
		}
	}
	require.NoError(b, r.Close())
}
