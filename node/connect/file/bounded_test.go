package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

func TestFilesAreReadInTheOrderOfTheirPaths(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "b.jsonl"), jsonNumbers(3, 5))
	put(t, filepath.Join(dir, "a.jsonl"), jsonNumbers(0, 3))
	put(t, filepath.Join(dir, "c", "d.jsonl.gz"), gz(t, jsonNumbers(5, 7)))
	put(t, filepath.Join(dir, "c", "e", "f.jsonl.zst"), zst(t, jsonNumbers(7, 9)))
	put(t, filepath.Join(dir, "c", "empty.jsonl"), nil)
	put(t, filepath.Join(dir, "c", "x.txt"), []byte("no\n"))
	for _, c := range []struct {
		paths []string
		want  int
	}{
		{[]string{"a.jsonl"}, 3},
		{[]string{"*.jsonl"}, 5},
		{[]string{"[ab].jsonl", "c/*.gz"}, 7},
		{[]string{"**/*.jsonl*"}, 9},
		{[]string{"**/?.jsonl*"}, 9},
		{[]string{"c/**/f.jsonl.zst", "b.jsonl", "a.jsonl", "c/d.jsonl.gz", "a.jsonl"}, 9},
	} {
		for _, rows := range []int{0, 1, 7} {
			out := drain(t, bounded(t, connect.Env{Dir: dir, BlockRows: rows}, nil, c.paths...))
			require.Equal(t, upTo(c.want), out.rows, "%v", c.paths)
			require.Equal(t, connect.Status{State: connect.Ended, End: connect.EndEOF}, out.end)
			require.Empty(t, out.rejects)
		}
	}
	sub := t.TempDir()
	put(t, filepath.Join(sub, "1"), jsonNumbers(0, 2))
	put(t, filepath.Join(sub, "2"), jsonNumbers(2, 4))
	put(t, filepath.Join(sub, ".hidden"), jsonNumbers(9, 10))
	require.Equal(t, upTo(4), drain(t, bounded(t, connect.Env{}, nil, sub)).rows)
}

func TestPatternsThatCannotBe(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.nothing":     `no file matches`,
		"no/dir/*.json": `no file matches`,
		"[a":            `the pattern`,
	} {
		src := &source{sourceConfig{stream: numbers(t), patterns: []string{pattern}, format: format.DefaultOptions(format.JSONL)}, connect.Env{Dir: t.TempDir()}}
		_, err := src.Open(context.Background(), nil)
		require.ErrorContains(t, err, want)
	}
	_, err := tryDrain(bounded(t, connect.Env{}, nil, filepath.Join(t.TempDir(), "missing.jsonl")))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRestartFromEveryBlock(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "1.jsonl"), append(jsonNumbers(0, 10), "broken\n"...))
	put(t, filepath.Join(dir, "2.jsonl.gz"), gz(t, jsonNumbers(10, 20)))
	put(t, filepath.Join(dir, "3.jsonl"), jsonNumbers(20, 30))
	env := connect.Env{Dir: dir, BlockRows: 3}
	whole := drain(t, bounded(t, env, nil, "*.jsonl*"))
	require.Equal(t, upTo(30), whole.rows)
	require.Len(t, whole.rejects, 1)
	for i, pos := range whole.pos {
		rest := drain(t, bounded(t, env, pos, "*.jsonl*"))
		require.Equal(t, whole.rows[whole.after[i]:], append([]int64{}, rest.rows...), "block %d", i)
		require.Equal(t, connect.EndEOF, rest.end.End)
	}
	src := &source{sourceConfig{stream: numbers(t), patterns: []string{"*"}, format: format.DefaultOptions(format.JSONL)}, env}
	_, err := src.Open(context.Background(), []byte{1, 2, 3})
	require.ErrorContains(t, err, "corrupt")
}

func TestCutAndDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	data := jsonNumbers(0, 1000)
	zipped := gz(t, data)
	put(t, filepath.Join(dir, "1.jsonl.gz"), zipped[:len(zipped)/2])
	put(t, filepath.Join(dir, "2.jsonl"), jsonNumbers(1000, 1001))
	out := drain(t, bounded(t, connect.Env{Dir: dir}, nil, "*"))
	require.Equal(t, connect.EndTruncated, out.end.End)
	require.Contains(t, out.end.Detail, "1.jsonl.gz")
	n := len(out.rows) - 1
	require.Greater(t, n, 100)
	require.Equal(t, upTo(n), out.rows[:n])
	require.EqualValues(t, 1000, out.rows[n], "the next file is read")
	require.Len(t, out.rejects, 1)
	require.Contains(t, out.rejects[0], "cut: the input ends within the record")

	for _, c := range []struct {
		name   string
		broken []byte
		end    connect.End
		detail string
	}{
		{"header.gz", zipped[:5], connect.EndTruncated, "header.gz@5: truncated input: "},
		{"half.gz", zipped[:len(zipped)/2], connect.EndTruncated, fmt.Sprintf("half.gz@%d: truncated input: ", len(zipped)/2)},
		{"magic.zst", []byte("\x28\xB5\x2F\xFDxxxxxxxxxxxx"), connect.EndCorrupt, "magic.zst@"},
		{"cut.zst", zst(t, data)[:300], connect.EndTruncated, "cut.zst@300: truncated input: "},
		{"random.zst", []byte("\x01\xE5\x9C\x00\x7F\x80"), connect.EndCorrupt, "random.zst@0: corrupt input: not zstd, as the name says: it begins with 01 e5 9c 00"},
		{"random.gz", []byte("\xFE\x01"), connect.EndCorrupt, "random.gz@0: corrupt input: not gzip, as the name says: it begins with fe 01"},
		{"latin.csv.gz", []byte("n,caf\xE9\n1,2\n"), connect.EndCorrupt, "latin.csv.gz@0: corrupt input: not gzip"},
	} {
		sub := t.TempDir()
		put(t, filepath.Join(sub, c.name), c.broken)
		out := drain(t, bounded(t, connect.Env{Dir: sub}, nil, c.name))
		require.Equal(t, c.end, out.end.End, c.name)
		require.Contains(t, out.end.Detail, c.detail)
	}
	flipped := bytes.Clone(zipped)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	sub := t.TempDir()
	put(t, filepath.Join(sub, "sum.gz"), flipped)
	out = drain(t, bounded(t, connect.Env{Dir: sub}, nil, "sum.gz"))
	require.Equal(t, connect.EndCorrupt, out.end.End)
	require.Equal(t, upTo(1000), out.rows)
}

// A file that was unpacked on its way and kept its name is read as what it is; so is one packed in another way.
func TestANameDoesNotPackAFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "1.jsonl.gz"), jsonNumbers(0, 5))
	put(t, filepath.Join(dir, "2.jsonl.zst"), gz(t, jsonNumbers(5, 7)))
	put(t, filepath.Join(dir, "3.jsonl.zst"), nil)
	long := append([]byte(`{"x":"`), bytes.Repeat([]byte("é"), 400)...) // a character lies across what is looked at
	put(t, filepath.Join(dir, "4.jsonl.zst"), append(long, "\",\"n\":7}\n"...))
	out := drain(t, bounded(t, connect.Env{Dir: dir}, nil, "*"))
	require.Equal(t, upTo(8), out.rows)
	require.Equal(t, connect.EndEOF, out.end.End)
}

// A file that changes while it is read: one block is read, then the change happens, then the rest.
func TestFilesThatChangeWhileTheyAreRead(t *testing.T) {
	data := jsonNumbers(0, 100_000) // more than is read at once
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
		end    connect.End
		whole  bool
	}{
		{"grows", func(t *testing.T, path string) { appendTo(t, path, jsonNumbers(100_000, 100_010)) }, connect.EndEOF, true},
		{"disappears", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, connect.EndVanished, true},
		{"is replaced", func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".old"))
			put(t, path, jsonNumbers(7, 8))
		}, connect.EndReplaced, true},
		{"shrinks", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) }, connect.EndTruncated, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, filepath.Join(t.TempDir(), "f.jsonl"), data)
			r := bounded(t, connect.Env{}, nil, path)
			first, err := r.Next(context.Background())
			require.NoError(t, err)
			c.change(t, path)
			out := drain(t, r)
			require.Equal(t, c.end, out.end.End, out.end.Detail)
			rows := append(first.Batch.Cols[0].Int, out.rows...)
			require.Equal(t, upTo(len(rows)), rows)
			if c.whole {
				require.GreaterOrEqual(t, len(rows), 100_000)
			}
		})
	}
}

func TestRestartWhereTheFileIsGoneOrAnother(t *testing.T) {
	dir := t.TempDir()
	one := put(t, filepath.Join(dir, "1.jsonl"), jsonNumbers(0, 10))
	put(t, filepath.Join(dir, "2.jsonl"), jsonNumbers(10, 12))
	env := connect.Env{Dir: dir, BlockRows: 4}
	pos := drain(t, bounded(t, env, nil, "*")).pos[0]
	put(t, one, jsonNumbers(50, 60))
	out := drain(t, bounded(t, env, pos, "*"))
	require.Equal(t, connect.EndReplaced, out.end.End)
	require.Equal(t, []int64{10, 11}, out.rows)
	require.NoError(t, os.Remove(one))
	out = drain(t, bounded(t, env, pos, "*"))
	require.Equal(t, connect.EndVanished, out.end.End)
	require.Equal(t, []int64{10, 11}, out.rows)
}

func TestStandardInput(t *testing.T) {
	out := drain(t, bounded(t, connect.Env{Stdin: strings.NewReader(string(jsonNumbers(0, 5)))}, nil, "-"))
	require.Equal(t, upTo(5), out.rows)
	out = drain(t, bounded(t, connect.Env{Stdin: bytes.NewReader(gz(t, jsonNumbers(0, 5)))}, nil, "-"))
	require.Equal(t, upTo(5), out.rows)
	out = drain(t, bounded(t, connect.Env{Stdin: bytes.NewReader(gz(t, jsonNumbers(0, 500))[:200])}, nil, "-"))
	require.Equal(t, connect.EndTruncated, out.end.End)

	// A terminal that nobody types at must not keep a command from ending.
	ctx, cancel := context.WithCancel(context.Background())
	pr, pw := io.Pipe()
	defer pw.Close()
	src, err := NewSource(numbers(t), "-", format.Options{}, connect.Env{Stdin: pr})
	require.NoError(t, err)
	r, err := src.Open(ctx, nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := r.Next(ctx)
		ended <- err
	}()
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestBlankLines shows that more blank lines than a block holds do not stop the reader before the row behind them.
func TestBlankLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat("\n", 10<<20)+"{\"v\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, errs := connect.NewStream("s", []connect.ColumnSpec{{Name: "v", Type: tuple.Of(tuple.Int64)}}, "")
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	src, err := NewSource(s, path, format.Options{}, connect.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for rows := 0; ; {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			if rows != 1 {
				t.Fatalf("%d rows", rows)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += b.Rows()
	}
}
