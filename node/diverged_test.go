package node

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/api"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// otherRows is a stream whose boundaries and heartbeats bear the checksums of other rows.
type otherRows struct{ flow.Stream }

func other(sum uint64) uint64 {
	if sum == 0 {
		return 0 // none
	}
	return sum ^ 1<<20
}

func (o otherRows) Beat() dcaa.StreamStatus {
	b := o.Stream.Beat()
	b.Sum = other(b.Sum)
	return b
}

func (o otherRows) Open(s flow.Subscriber) (flow.Cursor, error) {
	c, err := o.Stream.Open(s)
	if err != nil {
		return nil, err
	}
	return otherCursor{c}, nil
}

type otherCursor struct{ flow.Cursor }

func (c otherCursor) Next(ctx context.Context) (*tuple.Frame, error) {
	f, err := c.Cursor.Next(ctx)
	if err != nil || f.Kind != tuple.Boundary {
		return f, err
	}
	told := *f
	told.Sum = other(f.Sum)
	return &told, nil
}

// diverge makes a stream of a node give other rows than its replicas, as their checksums say.
func (m *party) diverge(stream string) {
	s := m.node.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.here[stream]
	p.stream = otherRows{p.stream}
	s.here[stream] = p
}

// TestDivergedIsAccepted shows that a reader leaves a replica alone that gives other rows than the one that it reads from; that it
// waits when that one is gone for good; and that it goes on with the other, without losing or repeating a row, once an operator
// says so, and not before.
func TestDivergedIsAccepted(t *testing.T) {
	f := workersWith(t, "[availability]\nchecksums = true\n")
	f.deployReplicated(filepath.Join(t.TempDir(), "out.csv"))
	north := f.nodes["north"]
	end := north.follow(endOut)
	stop := north.trickle("north/tallies")
	more := func(n int, what string) {
		t.Helper()
		before, _ := end.count()
		f.eventually(func() bool { have, _ := end.count(); return have >= before+n }, what)
	}
	more(50, "rows come")
	used := producerOf(f, north)
	wrong := f.nodes["north-2"]
	if wrong == used {
		wrong = f.nodes["north-3"]
	}
	name := "north/" + wrong.name
	input := func() (producer string, diverged []string) {
		for _, in := range north.fragmentStatus("north/rep", "end").Inputs {
			producer, diverged = in.Producer, in.Diverged
		}
		return producer, diverged
	}
	b := &backend{n: north.node}
	require.ErrorIs(t, b.AcceptReplica(t.Context(), "rep", name), api.ErrInvalid, "it has not diverged")

	wrong.diverge(manyOut)
	f.eventually(func() bool { _, d := input(); return len(d) == 1 && d[0] == name }, "the other replica is held for DIVERGED")
	more(50, "rows go on")
	err := b.AcceptReplica(t.Context(), "rep", name)
	require.ErrorIs(t, err, api.ErrUnavailable)
	require.ErrorContains(t, err, "if north/"+used.name+" is wrong, stop it first")

	used.stop()
	f.eventually(func() bool { p, _ := input(); return p == "" }, "the reader has nobody to read from")
	_, d := input()
	require.Equal(t, []string{name}, d)
	require.NoError(t, b.AcceptReplica(t.Context(), "rep", name))
	more(50, "rows go on from the replica that was accepted")
	p, d := input()
	require.Equal(t, name, p)
	require.Empty(t, d)

	total := stop()
	f.eventually(func() bool { n, _ := end.count(); return n >= total-1 }, "all rows come")
	require.Equal(t, numbered(2, total-1), end.rows(t))
}
