package file

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

func sinkOf(t require.TestingT, dir, name string, isBounded bool) connect.Sink {
	schema := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	s, err := NewSink(&connect.SinkStream{Name: "out", Schema: schema, Bounded: isBounded}, name, connect.Env{Dir: dir})
	require.NoError(t, err)
	return s
}

func rowsOf(from, to int) connect.SinkRows {
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}))
	for n := from; n < to; n++ {
		b.AppendInt(0, int64(n))
		b.EndRow(tuple.Time(n))
	}
	return connect.SinkRows{Batch: b.Take(), FirstID: uint64(from) + 1}
}

// contents returns the uncompressed bytes of a file.
func contents(t require.TestingT, path string) string {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	z, _, err := format.Decompress(bytes.NewReader(data))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}

func TestBoundedResultAppearsAsAWhole(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"r.csv", "r.tsv", "r.jsonl", "r.csv.gz", "r.jsonl.zst"} {
		dir := t.TempDir()
		target := filepath.Join(dir, name)
		put(t, target, []byte("the result before"))
		s := sinkOf(t, dir, name, true)
		_, err := s.Recover(ctx, nil)
		require.NoError(t, err)
		require.NoError(t, s.Write(ctx, rowsOf(0, 2)))
		before, err := os.ReadFile(target)
		require.NoError(t, err)
		require.Equal(t, "the result before", string(before))
		require.NoError(t, s.Finish(ctx))
		require.NoError(t, s.Close())
		require.Equal(t, []int64{0, 1}, numbersIn(t, contents(t, target)))
		require.NoFileExists(t, target+".part")
	}
}

func TestBoundedArrowResultReadsBack(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := sinkOf(t, dir, "r.arrow", true)
	_, err := s.Recover(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, s.Write(ctx, rowsOf(0, 3)))
	require.NoError(t, s.Write(ctx, rowsOf(3, 5)))
	require.NoError(t, s.Finish(ctx))
	src, err := NewSource(numbers(t), "r.arrow", format.Options{}, connect.Env{Dir: dir})
	require.NoError(t, err)
	r, err := src.Open(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, upTo(5), drain(t, r).rows)
}

func TestEmptyResultHasItsHeader(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := sinkOf(t, dir, "r.csv", true)
	_, err := s.Recover(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, s.Finish(ctx))
	require.Equal(t, "n\n", contents(t, filepath.Join(dir, "r.csv")))
}

func numbersIn(t require.TestingT, text string) (out []int64) {
	for _, line := range strings.Split(strings.TrimSpace(strings.TrimPrefix(text, "n\n")), "\n") {
		line = strings.TrimSuffix(strings.TrimPrefix(line, `{"n":`), "}")
		n := int64(0)
		for _, c := range line {
			require.True(t, c >= '0' && c <= '9', "line %q", line)
			n = n*10 + int64(c-'0')
		}
		out = append(out, n)
	}
	return out
}

// A live sink is killed at any moment, loses any part of what was not committed, and goes on from the last state that
// its owner stored: no row is lost and none is there twice.
func TestLiveSinkHoldsEveryRowOnce(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"out.csv", "out.jsonl", "out.csv.gz", "out.jsonl.zst"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				dir, err := os.MkdirTemp(t.TempDir(), "")
				require.NoError(rt, err)
				path := filepath.Join(dir, name)
				var state []byte
				stored, next := 0, 0
				s := sinkOf(rt, dir, name, false)
				_, err = s.Recover(ctx, nil)
				require.NoError(rt, err)
				for range rapid.IntRange(1, 12).Draw(rt, "steps") {
					switch rapid.SampledFrom([]string{"write", "write", "commit", "kill"}).Draw(rt, "step") {
					case "write":
						n := rapid.IntRange(0, 3000).Draw(rt, "rows")
						require.NoError(rt, s.Write(ctx, rowsOf(next, next+n)))
						next += n
					case "commit":
						st, err := s.Commit(ctx, tuple.Position{ID: uint64(next)})
						require.NoError(rt, err)
						if rapid.Bool().Draw(rt, "stored") { // the owner may die before it stores the state
							state, stored = st, next
						}
					case "kill":
						require.NoError(rt, s.Close())
						s = sinkOf(rt, dir, name, false)
						pos, err := s.Recover(ctx, state)
						require.NoError(rt, err)
						require.EqualValues(rt, stored, pos.ID)
						next = stored
					}
				}
				require.NoError(rt, s.Write(ctx, rowsOf(next, next+1)))
				_, err = s.Commit(ctx, tuple.Position{})
				require.NoError(rt, err)
				require.NoError(rt, s.Close())
				require.Equal(rt, upTo(next+1), numbersIn(rt, contents(rt, path)))
			})
		})
	}
}

func TestLiveSinkKeepsWhatIsThere(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, "out.csv"), []byte("precious"))
	put(t, path+".old-1", []byte("older"))
	s := sinkOf(t, dir, "out.csv", false)
	_, err := s.Recover(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, "precious", contents(t, path), "nothing has come that could stand in its place")
	require.NoError(t, s.Write(ctx, rowsOf(0, 1)))
	require.NoError(t, s.Close())
	require.Equal(t, "precious", contents(t, path+".old-2"))
	require.Equal(t, "older", contents(t, path+".old-1"))
}

// An output without results leaves no file, whatever is committed and however often the daemon starts; the first row
// makes it.
func TestASilentSinkLeavesNoFile(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"out.csv", "out.jsonl", "out.csv.gz"} {
		dir := t.TempDir()
		var state []byte
		for id := range uint64(3) {
			s := sinkOf(t, dir, name, false)
			pos, err := s.Recover(ctx, state)
			require.NoError(t, err)
			if id > 0 {
				require.EqualValues(t, id, pos.ID)
			}
			require.NoError(t, s.Write(ctx, rowsOf(0, 0)))
			state, err = s.Commit(ctx, tuple.Position{ID: id + 1})
			require.NoError(t, err)
			require.NoError(t, s.Close())
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, files)
		}
		s := sinkOf(t, dir, name, false)
		_, err := s.Recover(ctx, state)
		require.NoError(t, err)
		require.NoError(t, s.Write(ctx, rowsOf(0, 2)))
		_, err = s.Commit(ctx, tuple.Position{ID: 4})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Equal(t, upTo(2), numbersIn(t, contents(t, filepath.Join(dir, name))))
	}
}

// A stream that has ended without a row has a result: that there is nothing.
func TestAnEndedResultWithoutRowsIsThere(t *testing.T) {
	ctx := context.Background()
	for name, want := range map[string]string{"out.csv": "n\n", "out.jsonl": ""} {
		dir := t.TempDir()
		s := sinkOf(t, dir, name, false)
		_, err := s.Recover(ctx, nil)
		require.NoError(t, err)
		_, err = s.Commit(ctx, tuple.Position{Time: 1})
		require.NoError(t, err)
		require.NoFileExists(t, filepath.Join(dir, name), "rows may come")
		_, err = s.Commit(ctx, tuple.Position{Time: tuple.MaxTime})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Equal(t, want, contents(t, filepath.Join(dir, name)))
	}
}

// What is neither finished nor committed nobody can go on from: it is taken away, and what stood there before stays.
func TestAnUnfinishedResultIsTakenAway(t *testing.T) {
	ctx := context.Background()
	for _, rows := range []int{0, 5} {
		for _, commits := range []bool{false, true} {
			dir := t.TempDir()
			target := put(t, filepath.Join(dir, "r.csv"), []byte("before"))
			s := sinkOf(t, dir, "r.csv", true)
			_, err := s.Recover(ctx, nil)
			require.NoError(t, err)
			require.NoError(t, s.Write(ctx, rowsOf(0, rows)))
			if commits {
				_, err = s.Commit(ctx, tuple.Position{ID: uint64(rows)})
				require.NoError(t, err)
			}
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
			_, err = os.Stat(target + ".part")
			require.Equal(t, commits, err == nil, err)
			require.Equal(t, "before", contents(t, target))
		}
	}
}

// A target where no file can be is refused at once, with what to do, although a live sink creates it later.
func TestADirectoryThatCannotHoldTheFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub.csv"), 0o755))
	put(t, filepath.Join(dir, "plain"), []byte("x"))
	for name, says := range map[string]string{
		"gone/out.csv":  "there is no directory " + filepath.Join(dir, "gone") + "; create it, or name a file elsewhere",
		"sub.csv":       "the path is a directory; name a file",
		"plain/out.csv": "name a file elsewhere",
	} {
		for _, isBounded := range []bool{true, false} {
			s := sinkOf(t, dir, name, isBounded)
			_, err := s.Recover(context.Background(), nil)
			require.ErrorContains(t, err, says)
			require.NoError(t, s.Close())
		}
	}
}

func TestLiveSinkRefusesAFileThatIsNotItsOwn(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(t *testing.T, path string){
		"shorter": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 5)) },
		"another": func(t *testing.T, path string) { put(t, path, bytes.Repeat([]byte("x"), 10_000)) },
		"gone":    func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := sinkOf(t, dir, "out.csv", false)
			_, err := s.Recover(ctx, nil)
			require.NoError(t, err)
			require.NoError(t, s.Write(ctx, rowsOf(0, 100)))
			state, err := s.Commit(ctx, tuple.Position{ID: 100})
			require.NoError(t, err)
			require.NoError(t, s.Close())
			change(t, filepath.Join(dir, "out.csv"))
			_, err = sinkOf(t, dir, "out.csv", false).Recover(ctx, state)
			require.ErrorContains(t, err, "put it back")
		})
	}
	_, err := sinkOf(t, t.TempDir(), "out.csv", false).Recover(ctx, []byte{9, 9})
	require.ErrorContains(t, err, "version 9")
}

func TestStandardOutput(t *testing.T) {
	ctx := context.Background()
	var out bytes.Buffer
	schema := rowsOf(0, 1).Batch.Schema
	s, err := NewSink(&connect.SinkStream{Schema: schema}, "-", connect.Env{Stdout: &out})
	require.NoError(t, err)
	_, err = s.Recover(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, s.Write(ctx, rowsOf(0, 2)))
	require.Equal(t, "{\"n\":0}\n{\"n\":1}\n", out.String())
	state, err := s.Commit(ctx, tuple.Position{Generation: 2, ID: 7, Time: -5})
	require.NoError(t, err)
	pos, err := s.Recover(ctx, state)
	require.NoError(t, err)
	require.Equal(t, tuple.Position{Generation: 2, ID: 7, Time: -5}, pos)
	require.NoError(t, s.Finish(ctx))
}

func TestTargetsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	schema := rowsOf(0, 1).Batch.Schema
	for name, want := range map[string]string{"out.xls": "does not tell the format", "out.log": "can be read, not written"} {
		_, err := NewSink(&connect.SinkStream{Schema: schema}, name, connect.Env{Dir: dir})
		require.ErrorContains(t, err, want)
	}
	_, err := NewSink(&connect.SinkStream{Schema: schema}, dir, connect.Env{})
	require.ErrorContains(t, err, "is a directory; name a file in it")
}

func TestPositionsFromOutsideAreRefused(t *testing.T) {
	at := &position{file: "f", offset: 10, imprint: imprint{size: 10, sum: 5}, state: []byte("state")}
	got, err := decodePosition(at.encode())
	require.NoError(t, err)
	require.Equal(t, at, got)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		b := at.encode()
		b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		if p, err := decodePosition(b[:rng.IntN(len(b)+1)]); err == nil {
			require.GreaterOrEqual(t, p.offset, int64(p.imprint.size))
		}
	}
}
