package seglog_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage/seglog"
)

// crashDir tells the re-executed test binary that it is the writer to be killed.
const crashDir = "FEDNODE_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		crashWriter(dir)
		return
	}
	os.Exit(m.Run())
}

// crashWriter appends from four goroutines until it is killed, and prints every key once it is acknowledged. Each
// goroutine has payloads of its own size; the one that takes the turn numbers the keys.
func crashWriter(dir string) {
	l, _, err := seglog.Open(dir, seglog.Options{SegmentBytes: 256 << 10})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	turn := make(chan uint64, 1)
	turn <- l.Durable().Key
	out := make(chan uint64)
	for w := range 4 {
		go func() {
			for {
				key := <-turn + 1
				c, err := l.Append(context.Background(), entry(key, 100+w*1500))
				turn <- key
				if err == nil {
					err = c.Wait(context.Background())
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				out <- key
			}
		}()
	}
	for key := range out {
		fmt.Println(key)
	}
}

// kill -9 in the middle of writing, 20 times on one log: every acknowledged append is there, whole and in order.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	acked := map[uint64]bool{}
	for round := range 20 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		stop := 20 + round*37%200
		for n := 0; lines.Scan(); n++ {
			key, err := strconv.ParseUint(lines.Text(), 10, 64)
			if err != nil {
				break // cut by the kill
			}
			acked[key] = true
			if n == stop {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		require.Empty(t, stderr.String())

		l, rec := open(t, dir, seglog.Options{SegmentBytes: 256 << 10})
		require.NotEqual(t, seglog.Lost, rec.Origin)
		keys, damage := drain(t, l, l.Oldest())
		require.Empty(t, damage, describe(&rec))
		require.Equal(t, span(1, uint64(len(keys))), keys)
		for k := range acked {
			require.LessOrEqual(t, k, uint64(len(keys)), "acknowledged key %d is lost: %s", k, describe(&rec))
		}
		require.NoError(t, l.Close())
	}
	require.Greater(t, len(acked), 20*20)
}
