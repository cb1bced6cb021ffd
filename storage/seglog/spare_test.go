package seglog_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage/disk"
	"fednode/storage/seglog"
)

// whileSyncing is a file that does something more in the middle of a sync.
type whileSyncing struct {
	disk.File
	do func()
}

func (f whileSyncing) Sync() error {
	f.do()
	return f.File.Sync()
}

// However groups follow each other, alone or while another is written, their buffers are used again.
func TestBuffersOfGroups(t *testing.T) {
	const size = 1 << 20
	var l *seglog.Log
	next, more := uint64(0), 0
	appendOne := func() {
		next++
		_, err := l.Append(context.Background(), entry(next, size))
		require.NoError(t, err)
	}
	l, _ = open(t, t.TempDir(), seglog.Options{OpenFile: func(path string, flag int) (disk.File, error) {
		f, err := disk.Open(path, flag)
		return whileSyncing{f, func() {
			if more > 0 {
				more--
				appendOne()
			}
		}}, err
	}})
	round := func() {
		more = 2 // two groups are filled while the one before is written, then none
		appendOne()
		for more > 0 {
			require.NoError(t, l.Sync(context.Background()))
		}
		require.NoError(t, l.Sync(context.Background()))
		require.Equal(t, next, l.Durable().Key)
	}
	for range 4 {
		round()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 8
	for range rounds {
		round()
	}
	runtime.ReadMemStats(&after)
	made := after.TotalAlloc - before.TotalAlloc // the three records of a round, which the test makes, and little more
	require.Less(t, made, uint64(rounds*(3*size+size/2)), "bytes for %d rounds of 3 records of %d", rounds, size)
}
