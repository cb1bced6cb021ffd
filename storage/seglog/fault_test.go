package seglog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"fednode/storage/disk"
	"fednode/storage/faultstore"
	"fednode/storage/seglog"
)

// fillUntilFull appends records of a size one by one until that fails, and returns the keys that were acknowledged.
func fillUntilFull(t *testing.T, l *seglog.Log, first uint64, size int) (acked []uint64) {
	t.Helper()
	for k := first; ; k++ {
		_, err := l.AppendSync(context.Background(), entry(k, size))
		if err != nil {
			require.ErrorIs(t, err, disk.ErrFull)
			require.ErrorContains(t, err, "writing then goes on by itself")
			return acked
		}
		acked = append(acked, k)
	}
}

// Fill, free, continue: in one process without reopening, and again after reopening on the full disk.
func fillFreeContinue(t *testing.T, dir string, o seglog.Options, free func()) {
	l, _ := open(t, dir, o)
	acked := fillUntilFull(t, l, 1, 1000)
	require.NotEmpty(t, acked)
	keys, damage := drain(t, l, l.Oldest())
	require.Empty(t, damage)
	require.Equal(t, acked, keys, "what is stored stays readable, what failed is not there")
	next := uint64(len(acked) + 1)
	for range 3 {
		_, err := l.AppendSync(context.Background(), entry(next, 1000))
		require.ErrorIs(t, err, disk.ErrFull)
	}
	require.Equal(t, acked[len(acked)-1], l.Durable().Key)

	require.NoError(t, l.Close())
	l, rec := open(t, dir, o)
	require.True(t, rec.Clean(), describe(&rec))
	_, err := l.AppendSync(context.Background(), entry(next, 1000))
	require.ErrorIs(t, err, disk.ErrFull)

	free()
	fill(t, l, next, 20, 1, 1000)
	keys, damage = drain(t, l, l.Oldest())
	require.Empty(t, damage)
	require.Equal(t, span(1, next+19), keys)
	require.NoError(t, l.Close())
	l, rec = open(t, dir, o)
	require.True(t, rec.Clean(), describe(&rec))
	keys, _ = drain(t, l, l.Oldest())
	require.Equal(t, span(1, next+19), keys)
}

// On a small tmpfs where this process may mount one; else the disk is full by rule, which the next test always shows.
func TestFullDisk(t *testing.T) {
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=8m"); err != nil {
		require.ErrorIs(t, err, unix.EPERM)
		t.Logf("no right to mount a tmpfs (%v): the full disk is shown by TestFullByRule alone", err)
		return
	}
	defer func() { require.NoError(t, unix.Unmount(mount, unix.MNT_DETACH)) }()
	ballast := filepath.Join(mount, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600))
	fillFreeContinue(t, filepath.Join(mount, "log"), seglog.Options{SegmentBytes: 1 << 20}, func() {
		require.NoError(t, os.Remove(ballast))
	})
}

// On a read-only file system, where this process may mount one, the message says what to do.
func TestReadOnly(t *testing.T) {
	mount := t.TempDir()
	err := unix.Mount("tmpfs", mount, "tmpfs", unix.MS_RDONLY, "size=1m")
	if err != nil {
		require.ErrorIs(t, err, unix.EPERM)
		t.Logf("no right to mount a tmpfs (%v)", err)
		return
	}
	defer func() { require.NoError(t, unix.Unmount(mount, unix.MNT_DETACH)) }()
	for _, dir := range []string{mount, filepath.Join(mount, "log")} {
		_, _, err = seglog.Open(dir, seglog.Options{})
		require.ErrorIs(t, err, disk.ErrReadOnly)
		require.ErrorContains(t, err, "mount the file system writable")
	}
}

func TestFullByRule(t *testing.T) {
	plan := faultstore.NewPlan(faultstore.Rule{AfterBytes: 300_000, Torn: true})
	o := seglog.Options{SegmentBytes: small, OpenFile: faultstore.Files(plan)}
	dir := t.TempDir()
	l, _ := open(t, dir, o)
	acked := fillUntilFull(t, l, 1, 1000)
	keys, damage := drain(t, l, l.Oldest())
	require.Empty(t, damage)
	require.Equal(t, acked, keys)
	plan.Set(faultstore.Rule{})
	fill(t, l, uint64(len(acked)+1), 20, 1, 1000)
	keys, _ = drain(t, l, l.Oldest())
	require.Equal(t, span(1, uint64(len(acked)+20)), keys)
}

// Whichever write, sync or allocation fails, and however: acknowledged entries stay, failed ones are absent, and the
// next append succeeds.
func TestEveryWriteFails(t *testing.T) {
	for _, torn := range []bool{false, true} {
		for _, fault := range []error{unix.ENOSPC, unix.EIO} {
			for write := 1; write < 45; write++ {
				everyWrite(t, write, torn, fault)
			}
		}
	}
}

func everyWrite(t *testing.T, write int, torn bool, fault error) {
	t.Helper()
	plan := faultstore.NewPlan(faultstore.Rule{})
	o := seglog.Options{SegmentBytes: small, OpenFile: faultstore.Files(plan)}
	dir := scratch(t)
	l, _, err := seglog.Open(dir, o)
	require.NoError(t, err)
	follower, err := l.Reader(l.Oldest())
	require.NoError(t, err)
	defer func() { require.NoError(t, follower.Close()) }()
	plan.Set(faultstore.Rule{FromWrite: write, Times: 1, Err: fault, Torn: torn})
	var acked []uint64
	for k := uint64(1); k <= 22; k++ {
		_, err := l.AppendSync(context.Background(), entry(k, 8000))
		if err != nil {
			require.ErrorIs(t, err, fault)
			_, err = l.AppendSync(context.Background(), entry(k, 8000))
		}
		require.NoError(t, err)
		acked = append(acked, k)
		rec, ok, err := follower.TryNext()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, k, rec.Key, "the follower meets each record once")
	}
	keys, damage := drain(t, l, l.Oldest())
	require.Empty(t, damage)
	require.Equal(t, acked, keys)
	img := takeImage(t, dir) // as a crash would leave it
	require.NoError(t, errors.Join(l.Close()))
	again := scratch(t)
	img.write(t, again)
	l, rec := open(t, again, seglog.Options{SegmentBytes: small})
	keys, damage = drain(t, l, l.Oldest())
	require.Empty(t, damage, describe(&rec))
	require.Equal(t, acked, keys, "write %d torn %v: %s", write, torn, describe(&rec))
	require.NoError(t, l.Close())
}

// A failed write fails everybody who waits for it, also those who appended meanwhile, and nobody else.
func TestFailureIsShared(t *testing.T) {
	plan := faultstore.NewPlan(faultstore.Rule{})
	l, _ := open(t, t.TempDir(), seglog.Options{OpenFile: faultstore.Files(plan)})
	ctx := context.Background()
	fill(t, l, 1, 5, 5, 10)
	a, err := l.Append(ctx, entry(6, 10))
	require.NoError(t, err)
	b, err := l.Append(ctx, entry(7, 10))
	require.NoError(t, err)
	plan.Set(faultstore.Rule{FromWrite: 1, Times: 1})
	require.ErrorIs(t, b.Wait(ctx), disk.ErrFull)
	require.ErrorIs(t, a.Wait(ctx), disk.ErrFull)
	c, err := l.Append(ctx, entry(6, 20))
	require.NoError(t, err)
	require.EqualValues(t, 6, c.First)
	require.NoError(t, c.Wait(ctx))
	require.Error(t, a.Wait(ctx), "a failed commit stays failed")
	require.EqualValues(t, 1, l.Stats().Failures)
}

// Whoever goes on from the last record finds it, although all is truncated that may be and the next segment, which a
// failed write has left empty, is the newest.
func TestLastRecordStays(t *testing.T) {
	for write := 1; write < 45; write++ {
		plan := faultstore.NewPlan(faultstore.Rule{})
		dir := scratch(t)
		l, _ := open(t, dir, seglog.Options{SegmentBytes: small, OpenFile: faultstore.Files(plan)})
		fill(t, l, 1, 3, 1, 8000)
		plan.Set(faultstore.Rule{FromWrite: write})
		key, err := uint64(3), error(nil)
		for ; err == nil; key++ {
			_, err = l.AppendSync(context.Background(), entry(key+1, 8000))
		}
		last := l.Durable()
		require.Equal(t, key-1, last.Key)
		_, err = l.TruncateBefore(seglog.Position{Generation: last.Generation, Key: last.Key + 1})
		require.NoError(t, err)
		img := takeImage(t, dir) // as a crash would leave it
		require.NoError(t, l.Close())
		again := scratch(t)
		img.write(t, again)
		l, _ = open(t, again, seglog.Options{SegmentBytes: small})
		rec, ok, err := l.Last()
		require.NoError(t, err)
		require.True(t, ok, "write %d: no record is left of %d", write, last.Key)
		require.Equal(t, last.Key, rec.Key)
		require.NoError(t, l.Close())
	}
}

// What builds on an entry that a failed write has lost is refused, so that the log has no hole.
func TestAppendAfter(t *testing.T) {
	plan := faultstore.NewPlan(faultstore.Rule{})
	l, _ := open(t, t.TempDir(), seglog.Options{OpenFile: faultstore.Files(plan)})
	ctx := context.Background()
	fill(t, l, 1, 5, 5, 10)
	require.EqualValues(t, 5, l.Appended())
	lost, err := l.AppendAfter(ctx, 5, entry(6, 10))
	require.NoError(t, err)
	require.EqualValues(t, 6, l.Appended())
	plan.Set(faultstore.Rule{FromWrite: 1, Times: 1})
	require.Error(t, lost.Wait(ctx))
	_, err = l.AppendAfter(ctx, lost.Last, entry(7, 10))
	require.ErrorIs(t, err, seglog.ErrNotNext)
	again, err := l.AppendAfter(ctx, l.Appended(), entry(6, 10))
	require.NoError(t, err)
	require.NoError(t, again.Wait(ctx))
	keys, _ := drain(t, l, l.Oldest())
	require.Equal(t, span(1, 6), keys)
}
