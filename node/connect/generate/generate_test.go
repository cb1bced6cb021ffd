package generate

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

func streamOf(t testing.TB, kind string) *connect.Stream {
	var cols []connect.ColumnSpec
	for _, k := range kinds() {
		if k.name == kind {
			for _, f := range k.fields {
				cols = append(cols, connect.ColumnSpec{Name: f.name, Type: f.typ})
			}
		}
	}
	s, errs := connect.NewStream(kind, cols, "ts")
	require.Empty(t, errs)
	return s
}

func open(t testing.TB, c Config, env connect.Env, pos []byte) connect.Reader {
	src, err := NewSource(c, streamOf(t, c.Kind), env)
	require.NoError(t, err)
	r, err := src.Open(context.Background(), pos)
	require.NoError(t, err)
	return r
}

func all(t testing.TB, r connect.Reader) (rows []string, pos [][]byte, after []int) {
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return rows, pos, after
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			var text []byte
			for k := range b.Batch.Cols {
				text = append(b.Batch.Cols[k].AppendText(text, i), ' ')
			}
			rows = append(rows, string(text))
			if ts := b.Batch.Cols[0].Int[i]; tuple.Time(ts) != b.Batch.Time[i] {
				t.Fatalf("row %d: stime %v, ts %v", i, b.Batch.Time[i], tuple.Time(ts))
			}
		}
		if b.Batch != nil {
			require.NoError(t, b.Batch.Check())
		}
		pos, after = append(pos, b.Pos), append(after, len(rows))
	}
}

func TestRowsAreAFunctionOfTheDeclaration(t *testing.T) {
	for _, kind := range kindNames() {
		c := Default(kind)
		c.Rows, c.Speed = 5000, 0
		want, pos, after := all(t, open(t, c, connect.Env{}, nil))
		require.Len(t, want, 5000)
		small, _, _ := all(t, open(t, c, connect.Env{BlockRows: 7}, nil))
		require.Equal(t, want, small, "the size of blocks does not matter")
		for i := range pos {
			rest, _, _ := all(t, open(t, c, connect.Env{BlockRows: 1000}, pos[i]))
			require.Equal(t, want[after[i]:], append([]string{}, rest...), "from position %d", i)
		}
		c.Seed = 2
		other, _, _ := all(t, open(t, c, connect.Env{}, nil))
		require.NotEqual(t, want, other)
	}
}

// The first rows are pinned: whoever changes a generator changes every result that was compared with it.
func TestFirstRows(t *testing.T) {
	want := map[string]string{
		"connections": firstConnection,
		"sensors":     firstReading,
		"bids":        firstBid,
	}
	for _, kind := range kindNames() {
		c := Default(kind)
		c.Rows, c.Speed = 1, 0
		got, _, _ := all(t, open(t, c, connect.Env{}, nil))
		require.Equal(t, want[kind], got[0])
	}
}

func TestDisorderStaysBelowItsBound(t *testing.T) {
	c := Default("connections")
	c.Rows, c.Speed = 20_000, 0
	r := open(t, c, connect.Env{BlockRows: 20_000}, nil)
	b, err := r.Next(context.Background())
	require.NoError(t, err)
	latest, behind, disordered := tuple.MinTime, int64(0), 0
	for _, at := range b.Batch.Time {
		if at < latest {
			behind, disordered = max(behind, int64(latest-at)), disordered+1
		}
		latest = max(latest, at)
	}
	require.Less(t, behind, c.Disorder)
	require.Greater(t, disordered, 10_000)
}

// perSource counts connections and ports of one minute of one or more organisations, as the network-monitoring query
// does.
func perSource(t *testing.T, orgs ...int64) (conns map[string]int, ports map[string]map[int64]bool) {
	conns, ports = map[string]int{}, map[string]map[int64]bool{}
	for _, org := range orgs {
		c := Default("connections")
		c.Rows, c.Speed, c.Org, c.Seed = 120_000, 0, org, uint64(org)+1
		r := open(t, c, connect.Env{BlockRows: 1 << 17}, nil)
		b, err := r.Next(context.Background())
		require.NoError(t, err)
		for i := range b.Rows() {
			src := string(b.Batch.Cols[connSrc].AppendText(nil, i))
			conns[src]++
			if ports[src] == nil {
				ports[src] = map[int64]bool{}
			}
			ports[src][b.Batch.Cols[connDport].Int[i]] = true
		}
	}
	return conns, ports
}

func suspects(conns map[string]int, ports map[string]map[int64]bool) (active, scanning, both []string) {
	for src, n := range conns {
		if n > 100 {
			active = append(active, src)
		}
		if len(ports[src]) > 10 {
			scanning = append(scanning, src)
		}
		if n > 100 && len(ports[src]) > 10 {
			both = append(both, src)
		}
	}
	return active, scanning, both
}

func TestPlantedSourcesStandOut(t *testing.T) {
	active, scanning, both := suspects(perSource(t, 0))
	require.ElementsMatch(t, []string{"10.10.255.1", "10.10.255.2", "10.10.255.5"}, active)
	require.ElementsMatch(t, []string{"10.10.255.3", "10.10.255.4", "10.10.255.5", "10.9.255.1"}, scanning)
	require.ElementsMatch(t, []string{"10.10.255.5"}, both)

	active, _, both = suspects(perSource(t, 0, 1, 2))
	require.Len(t, active, 10)
	require.ElementsMatch(t, []string{"10.10.255.5", "10.11.255.5", "10.12.255.5", "10.9.255.1"}, both, "one is suspect only in the union")
}

// fakeClock moves only when it is told.
type fakeClock struct {
	now    time.Time
	waited []time.Duration
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) After(d time.Duration) <-chan time.Time {
	c.waited = append(c.waited, d)
	c.now = c.now.Add(d)
	ch := make(chan time.Time, 1)
	ch <- c.now
	return ch
}

func TestThePaceFollowsTheClock(t *testing.T) {
	clock := &fakeClock{now: time.Unix(1000, 0)}
	c := Default("connections")
	c.Speed = 60 // 120,000 rows/s
	r := open(t, c, connect.Env{Clock: clock}, nil)
	rows := 0
	for clock.now.Before(time.Unix(1001, 0)) {
		b, err := r.Next(context.Background())
		require.NoError(t, err)
		rows += b.Rows()
	}
	require.InDelta(t, 120_000, rows, 4096)

	c.Rate, c.Speed = 1, 0.5 // a row every two seconds
	clock = &fakeClock{now: time.Unix(1000, 0)}
	r = open(t, c, connect.Env{Clock: clock}, nil)
	b, err := r.Next(context.Background())
	require.NoError(t, err)
	require.Equal(t, 1, b.Rows())
	require.Equal(t, connect.Idle, b.Status.State)
	require.Equal(t, 2*time.Second, clock.now.Sub(time.Unix(1000, 0)))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = r.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Close())
	_, err = r.Next(context.Background())
	require.Equal(t, io.EOF, err)
}

// TestARestartCatchesUp shows that a generator which was away has what fell due meanwhile to give at once, so that it does
// not lag behind others for ever.
func TestARestartCatchesUp(t *testing.T) {
	clock := &fakeClock{now: time.Unix(1000, 0)}
	c := Default("connections")
	b, err := open(t, c, connect.Env{Clock: clock}, nil).Next(context.Background())
	require.NoError(t, err)
	before := b.Rows()
	clock.now = clock.now.Add(time.Second)
	r := open(t, c, connect.Env{Clock: clock}, b.Pos)
	b, err = r.Next(context.Background())
	require.NoError(t, err)
	require.InDelta(t, 2000, before+b.Rows(), 20)
	require.Equal(t, connect.Idle, b.Status.State)
}

func TestPositionsFromOutside(t *testing.T) {
	src, err := NewSource(Default("bids"), streamOf(t, "bids"), connect.Env{})
	require.NoError(t, err)
	for _, pos := range [][]byte{{1}, {0x80}, {1, 2}, {2, 2, 2}, {}} {
		_, err := src.Open(context.Background(), pos)
		require.Error(t, err)
	}
	_, err = NewSource(Default("bid"), streamOf(t, "bids"), connect.Env{})
	require.ErrorContains(t, err, "did you mean `bids`?")
}

func BenchmarkConnections(b *testing.B) {
	c := Default("connections")
	c.Speed = 0
	r := open(b, c, connect.Env{}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/connect.DefaultBlockRows, "ns/row")
}

const (
	firstConnection = "2026-01-01T00:00:00.03021Z 10.10.29.111 203.0.113.16 50593 443 tcp 27265 19 "
	firstReading    = "2026-01-01T00:00:00.03021Z station-000 8.35 2.55 -3.7 "
	firstBid        = "2026-01-01T00:00:00.03021Z 1000 1205 7911.33 channel-2 "
)
