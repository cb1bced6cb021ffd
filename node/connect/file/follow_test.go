package file

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

func TestFollowAGrowingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conn.jsonl")
	f := follow(t, path, nil)
	require.Contains(t, f.state(connect.Disconnected).Detail, "does not exist")
	put(t, path, jsonNumbers(0, 3))
	f.until(3)
	appendTo(t, path, jsonNumbers(3, 5))
	f.until(5)
	appendTo(t, path, []byte(`{"n":`))
	f.silent()
	appendTo(t, path, []byte("5}\n"))
	f.until(6)
	if f.seen[len(f.seen)-1].State != connect.Idle {
		f.state(connect.Idle)
	}
}

func TestFollowThroughARenameRotation(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "conn.jsonl"), jsonNumbers(0, 3))
	f := follow(t, path, nil)
	f.until(3)
	require.NoError(t, os.Rename(path, path+".1"))
	appendTo(t, path+".1", append(jsonNumbers(3, 5), `{"n":5}`...)) // its writer has it open still
	f.until(5)
	put(t, path, jsonNumbers(6, 8))
	f.until(8)
	require.NoError(t, os.Rename(path, path+".2"))
	put(t, path, nil)
	appendTo(t, path, jsonNumbers(8, 9))
	f.until(9)
}

func TestFollowThroughCopyAndTruncate(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "conn.jsonl"), jsonNumbers(0, 100))
	f := follow(t, path, nil)
	f.until(100)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	// What came between our last look and the truncation is in the copy only.
	put(t, path+".1", append(data, jsonNumbers(100, 103)...))
	require.NoError(t, os.Truncate(path, 0))
	appendTo(t, path, jsonNumbers(103, 105))
	f.until(105)
	// Emptied and longer than before by the time it is looked at: only the content tells.
	require.NoError(t, os.WriteFile(path, jsonNumbers(105, 300), 0o644))
	f.until(300)
	require.Contains(t, lastDetail(f), "was not read")
}

func lastDetail(f *follower) string {
	for i := len(f.seen) - 1; i >= 0; i-- {
		if f.seen[i].Detail != "" {
			return f.seen[i].Detail
		}
	}
	return ""
}

func TestFollowDeletedAndMadeAgain(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "conn.jsonl"), jsonNumbers(0, 3))
	f := follow(t, path, nil)
	f.until(3)
	require.NoError(t, os.Remove(path))
	f.state(connect.Disconnected)
	put(t, path, jsonNumbers(3, 6))
	f.until(6)
}

// Each case stops after three rows, changes the files, and goes on from the position.
func TestFollowGoesOnAfterARestart(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
	}{
		{"nothing happened", func(t *testing.T, path string) {}},
		{"renamed", func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".1"))
			put(t, path, nil)
		}},
		{"renamed twice", func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".2"))
			put(t, path+".1", jsonNumbers(6, 8))
			put(t, path, nil)
		}},
		{"renamed by date", func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), "conn-2026-11-29.jsonl")))
			put(t, path, nil)
		}},
		{"copied and truncated", func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			put(t, path+".1", data)
			require.NoError(t, os.Truncate(path, 0))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, filepath.Join(t.TempDir(), "conn.jsonl"), jsonNumbers(0, 3))
			f := follow(t, path, nil)
			f.until(3)
			require.NoError(t, f.r.Close())
			appendTo(t, path, jsonNumbers(3, 6))
			c.change(t, path)
			n := 6
			if c.name == "renamed twice" {
				n = 8
			}
			appendTo(t, path, jsonNumbers(n, 10))
			again := follow(t, path, f.pos)
			again.rows = f.rows
			again.until(10)
			again.silent()
		})
	}
}

func TestFollowAfterTheFileWasLost(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "conn.jsonl"), jsonNumbers(0, 3))
	f := follow(t, path, nil)
	f.until(3)
	put(t, path, jsonNumbers(50, 53))
	again := follow(t, path, f.pos)
	again.next()
	require.Equal(t, []int64{50, 51, 52}, again.rows)
	require.Contains(t, lastDetail(again), "whatever it held after byte 24 was not read")
}
