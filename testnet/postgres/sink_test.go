package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/postgres"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// declared is a sink as a query file declares it.
type declared struct {
	stream *connect.SinkStream
	plan   *connect.SinkPlan
}

// declare reads the keys of a sink; d is the database "db".
func declare(t *testing.T, schema *tuple.Schema, d connect.Database, keys string) *declared {
	t.Helper()
	var p spec.Problems
	table := spec.ParseTOML("q.toml", []byte("database = \"db\"\n"+keys), nil, &p)
	require.NoError(t, p.Err())
	s := &connect.SinkStream{Name: "out", Schema: schema, Sink: "north/node-1/q/out.out", Databases: map[string]connect.Database{"db": d}}
	r := spec.Read(table, &p)
	plan := postgres.Kind().Sink(r, s)
	r.Done()
	require.NoError(t, p.Err())
	return &declared{s, plan}
}

// life is one life of a sink: what the client proxy does with it.
type life struct {
	connect.Sink
	state []byte
}

func (d *declared) sink() connect.Sink { return d.plan.New(connect.Env{}) }

// begin begins the first life.
func (d *declared) begin(t *testing.T) *life {
	t.Helper()
	s := d.sink()
	l := &life{s, s.(connect.ClaimingSink).Claim()}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	pos, err := s.Recover(t.Context(), l.state)
	require.NoError(t, err)
	require.Equal(t, tuple.Position{Time: tuple.MinTime}, pos)
	return l
}

func (l *life) write(t *testing.T, first uint64, b *tuple.Batch) {
	t.Helper()
	require.NoError(t, l.Write(t.Context(), connect.SinkRows{Batch: b, Generation: 1, FirstID: first}))
}

func (l *life) commit(t *testing.T, id uint64) {
	t.Helper()
	var err error
	l.state, err = l.Commit(t.Context(), tuple.Position{Generation: 1, ID: id, Time: tuple.Time(id)})
	require.NoError(t, err)
}

var pairs = tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "v", Type: tuple.Of(tuple.String)})

// pair is a row of pairs.
type pair struct {
	k     int64
	v     string
	stime tuple.Time
}

func batch(rows ...pair) *tuple.Batch {
	b := tuple.NewBatchBuilder(pairs)
	for _, r := range rows {
		b.AppendInt(0, r.k)
		b.AppendBin(1, []byte(r.v))
		b.EndRow(r.stime)
	}
	return b.Take()
}
