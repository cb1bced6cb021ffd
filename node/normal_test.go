package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/connect/format"
	"fednode/node/connect/push"
	"fednode/node/fragment"
)

// timedStreams are pushed rows with a time of their own: those of slow may be 4 s out of order, those of behind always come
// 6 s late, which no one declares.
const timedStreams = `
[streams.quick]
connector = "http"
time = "ts"
columns = { ts = "timestamp", n = "int64" }
[streams.slow]
connector = "http"
time = "ts"
max_out_of_order = "4s"
columns = { ts = "timestamp", n = "int64" }
[streams.behind]
connector = "http"
time = "ts"
columns = { ts = "timestamp", n = "int64" }
`

// mergeOf is a query that merges two streams, with a bound of 3 s.
func mergeOf(name, one, other string) []byte {
	return fmt.Appendf(nil, `
[query]
name = %q
max_delay = "3s"
[streams.one]
connector = "node"
stream = %q
time = "ts"
columns = { ts = "timestamp", n = "int64" }
[streams.other]
connector = "node"
stream = %q
time = "ts"
columns = { ts = "timestamp", n = "int64" }
[operators.all]
kind = "union"
inputs = ["one", "other"]
[operators.some]
kind = "filter"
input = "all"
where = "n > 0"
[outputs.out]
input = "some"
connector = "node"
`, name, one, other)
}

// pushTimed pushes one row whose time is so long before now.
func (m *party) pushTimed(stream string, n int, before time.Duration) {
	m.t.Helper()
	row := fmt.Sprintf("{\"ts\":%q,\"n\":%d}\n", time.Now().Add(-before).UTC().Format(time.RFC3339Nano), n)
	target, err := m.node.Backend(nil, nil).PushTarget(stream)
	require.NoError(m.t, err)
	ctx, cancel := context.WithTimeout(m.t.Context(), patient)
	defer cancel()
	blocks, err := push.Decode(ctx, target.Shape, format.DefaultOptions(format.JSONL), "body", strings.NewReader(row), 1<<20)
	require.NoError(m.t, err)
	for err = push.ErrClosed; errors.Is(err, push.ErrClosed) && ctx.Err() == nil; {
		err = target.Inbox.Push(ctx, "", blocks)
	}
	require.NoError(m.t, err)
}

// TestNormalDelayIsNoFailure: a query reads the output of another one, whose sources have slack and lag that it knows nothing
// of, beside a stream that is always in time. Both delays are longer than its bound, and nothing is tentative. The bound holds
// beyond them: when the other query is stopped, results go on without it.
func TestNormalDelayIsNoFailure(t *testing.T) {
	f := newFed(t, map[string]string{"north": timedStreams})
	north := f.nodes["north"]
	north.start()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for n := 1; ; n++ {
			north.pushTimed("north/quick", n, 0)
			north.pushTimed("north/slow", n, 0)
			north.pushTimed("north/behind", n, 6*time.Second)
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	_, err := north.node.Deploy(t.Context(), "late.toml", mergeOf("late", "north/slow", "north/behind"), false)
	require.NoError(t, err)
	late := north.follow("north/late/out")
	f.eventually(func() bool { n, _ := late.count(); return n > 0 }, "the first query gives results")
	_, err = north.node.Deploy(t.Context(), "all.toml", mergeOf("all", "north/late/out", "north/quick"), false)
	require.NoError(t, err)
	all := north.follow("north/all/out")
	f.eventually(func() bool { n, _ := all.count(); return n > 500 }, "the second gives those of some seconds")
	for name, w := range map[string]*follower{"late": late, "all": all} {
		_, tentative := w.count()
		require.Zero(t, tentative, "of %s: no failure, nothing tentative", name)
	}
	status := func() (s fragment.OutputStatus) {
		for _, o := range north.fragmentStatus("north/all", north.onlyFragment("north/all")).Outputs {
			s = o
		}
		return s
	}
	require.Equal(t, dcaa.Stable, status().State)

	require.NoError(t, north.node.StopQuery("late"))
	f.eventually(func() bool { _, n := all.count(); return n > 0 }, "results go on without it")
	f.eventually(func() bool { return status().State == dcaa.UpstreamFailure }, "and say so")
	require.Equal(t, "north/late/out", status().Missing[0].Stream)
}

// onlyFragment is the name of the one fragment of a query that runs here.
func (m *party) onlyFragment(id string) string {
	m.t.Helper()
	q := m.node.queries
	q.mu.Lock()
	d := q.running[id]
	q.mu.Unlock()
	require.NotNil(m.t, d)
	d.mu.Lock()
	defer d.mu.Unlock()
	require.Len(m.t, d.fragments, 1)
	for name := range d.fragments {
		return name
	}
	return ""
}
