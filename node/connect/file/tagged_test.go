package file

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// taggedOf declares a sink that marks tentative rows.
func taggedOf(t *testing.T, dir, name string, schema *tuple.Schema) connect.Sink {
	var p spec.Problems
	table := spec.ParseTOML("q.toml", []byte("path = \""+name+"\"\ntentative = \"tag\""), nil, &p)
	plan := Kind().Sink(spec.Read(table, &p), &connect.SinkStream{Name: "out", Schema: schema})
	require.NoError(t, p.Err())
	require.True(t, plan.Tentative)
	return plan.New(connect.Env{Dir: dir})
}

func TestTaggedFile(t *testing.T) {
	for name, want := range map[string]string{
		"out.csv": `_state,_stime,n
stable,1970-01-01T00:00:00Z,0
stable,1970-01-01T00:00:00.000001Z,1
tentative,1970-01-01T00:00:00.000002Z,2
tentative,1970-01-01T00:00:00.000003Z,3
undo,1970-01-01T00:00:00.000003Z,
undo,,
stable,1970-01-01T00:00:00.000002Z,2
tentative,1970-01-01T00:00:00.000003Z,3
done,1970-01-01T00:00:00.000003Z,
done,,
`,
		"out.jsonl": `{"_state":"stable","_stime":"1970-01-01T00:00:00Z","n":0}
{"_state":"stable","_stime":"1970-01-01T00:00:00.000001Z","n":1}
{"_state":"tentative","_stime":"1970-01-01T00:00:00.000002Z","n":2}
{"_state":"tentative","_stime":"1970-01-01T00:00:00.000003Z","n":3}
{"_state":"undo","_stime":"1970-01-01T00:00:00.000003Z","n":null}
{"_state":"undo","_stime":null,"n":null}
{"_state":"stable","_stime":"1970-01-01T00:00:00.000002Z","n":2}
{"_state":"tentative","_stime":"1970-01-01T00:00:00.000003Z","n":3}
{"_state":"done","_stime":"1970-01-01T00:00:00.000003Z","n":null}
{"_state":"done","_stime":null,"n":null}
`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			open := func(state []byte) connect.TaggingSink {
				s := taggedOf(t, dir, name, rowsOf(0, 1).Batch.Schema).(connect.TaggingSink)
				_, err := s.Recover(ctx, state)
				require.NoError(t, err)
				return s
			}
			s := open(nil)
			require.NoError(t, s.Undo(ctx, tuple.MinTime), "nothing is there that could be void")
			require.NoFileExists(t, filepath.Join(dir, name))
			require.NoError(t, s.Write(ctx, rowsOf(0, 2)))
			require.NoError(t, s.WriteTentative(ctx, rowsOf(2, 4).Batch))
			require.NoError(t, s.Undo(ctx, 3))
			state, err := s.Commit(ctx, tuple.Position{Generation: 1, ID: 2, Time: 2})
			require.NoError(t, err)
			require.NoError(t, s.WriteTentative(ctx, rowsOf(7, 9).Batch), "which is cut")
			require.NoError(t, s.Close())

			s = open(state)
			require.NoError(t, s.Undo(ctx, tuple.MinTime))
			require.NoError(t, s.Write(ctx, rowsOf(2, 3)))
			require.NoError(t, s.WriteTentative(ctx, rowsOf(3, 4).Batch))
			require.NoError(t, s.Done(ctx, 3))
			require.NoError(t, s.Done(ctx, tuple.MaxTime))
			require.NoError(t, s.Done(ctx, tuple.MaxTime), "nothing is left to be done")
			require.NoError(t, s.Finish(ctx))
			require.Equal(t, want, contents(t, filepath.Join(dir, name)))
		})
	}
}

// A selection of a batch is written as it is.
func TestTaggedSelection(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := taggedOf(t, dir, "out.csv", rowsOf(0, 1).Batch.Schema)
	_, err := s.Recover(ctx, nil)
	require.NoError(t, err)
	rows := rowsOf(0, 5)
	rows.Batch.Sel = []uint32{1, 3}
	require.NoError(t, s.Write(ctx, rows))
	require.NoError(t, s.Finish(ctx))
	require.Equal(t, "_state,_stime,n\nstable,1970-01-01T00:00:00.000001Z,1\nstable,1970-01-01T00:00:00.000003Z,3\n", contents(t, filepath.Join(dir, "out.csv")))
}

func TestTaggedFileNeedsItsNames(t *testing.T) {
	s := taggedOf(t, t.TempDir(), "out.csv", tuple.MustSchema(tuple.Field{Name: "_state", Type: tuple.Of(tuple.Int64)}))
	_, err := s.Recover(context.Background(), nil)
	require.ErrorContains(t, err, "two columns named \"_state\"; rename the column")
	require.NoError(t, s.Close())
}
