package storage_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
	"fednode/storage/storetest"
)

// crashDir tells the re-executed test binary that it is the writer to be killed.
const crashDir = "FEDNODE_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := crashWriter(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// crashWriter saves points, each large enough to be staged every third time, and prints each once it is stored.
func crashWriter(dir string) error {
	s, err := storage.Open(dir, storage.Options{})
	if err != nil {
		return err
	}
	points, err := storage.NewRecoveryPoints(s)
	if err != nil {
		return err
	}
	next := uint64(1)
	if p, _, err := points.Load("q"); err == nil {
		next = p.Epoch + 1
	}
	for ; ; next++ {
		if err := points.Save(storetest.Point("q", next, crashSize(next)), nil); err != nil {
			return err
		}
		fmt.Println(next)
	}
}

func crashSize(n uint64) int {
	if n%3 == 0 {
		return storage.TxBytes
	}
	return 50_000
}

// kill -9 while recovery points are saved: what is loaded afterwards is whole, and not older than the last that was
// acknowledged.
func TestKilledWhileSaving(t *testing.T) {
	dir := t.TempDir()
	for round := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		acked := uint64(0)
		lines := bufio.NewScanner(stdout)
		for n := 0; lines.Scan(); n++ {
			if v, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
				acked = v
			}
			if n == 3+round {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		require.Empty(t, stderr.String())

		s, err := storage.Open(dir, storage.Options{})
		require.NoError(t, err)
		points, err := storage.NewRecoveryPoints(s)
		require.NoError(t, err)
		got, report, err := points.Load("q")
		require.NoError(t, err)
		require.Empty(t, report.Rejected)
		require.GreaterOrEqual(t, got.Epoch, acked)
		require.Equal(t, storetest.Point("q", got.Epoch, crashSize(got.Epoch)), got)
		require.NoError(t, s.Close())
	}
}
