package source

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/query/tuple"
)

// aheadClock runs ahead of the machine's by what it is told.
type aheadClock struct {
	connect.SystemClock
	by atomic.Int64
}

func (c *aheadClock) Now() time.Time { return c.SystemClock.Now().Add(time.Duration(c.by.Load())) }

// looker gives rows of given times, and says until when it has looked.
type looker struct {
	times  chan tuple.Time
	looked atomic.Pointer[time.Time]
}

func (l *looker) Open(context.Context, []byte) (connect.Reader, error) { return l, nil }
func (l *looker) Close() error                                         { return nil }
func (l *looker) Looked() time.Time                                    { return *l.looked.Load() }

func (l *looker) Next(ctx context.Context) (*connect.Block, error) {
	select {
	case at := <-l.times:
		b := tuple.NewBatchBuilder(testSchema)
		b.AppendInt(0, 1)
		b.AppendBin(1, []byte("k"))
		b.EndRow(at)
		return &connect.Block{Batch: b.Take(), Status: connect.Status{State: connect.Idle}, Pos: []byte{1}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestNotQuietUnseen: a source is quiet as far as its reader has looked and found nothing. What the reader finds when it
// has been held up for an hour is in time.
func TestNotQuietUnseen(t *testing.T) {
	clock, reader := &aheadClock{}, &looker{times: make(chan tuple.Time, 1)}
	began := time.Now()
	reader.looked.Store(&began)
	c := config(t.TempDir(), reader, &memAcks{})
	c.HasTime, c.Rules, c.Clock = true, ingest.Live(), clock
	c.Rules.MaxOutOfOrder, c.Rules.MaxFutureSkew = 0, ingest.Unbounded
	p, err := Open(c)
	require.NoError(t, err)
	defer running(t, p)()
	first := tuple.TimeOf(began)
	reader.times <- first
	require.Eventually(t, func() bool { return p.Status().Totals.Rows == 1 }, patient, time.Millisecond)

	clock.by.Store(int64(time.Hour))
	looked := time.Now().Add(10 * time.Second)
	reader.looked.Store(&looked)
	require.Eventually(t, func() bool { return p.Head().Time > first }, patient, time.Millisecond)
	require.LessOrEqual(t, p.Head().Time, tuple.TimeOf(looked), "no further than it has looked")

	reader.times <- tuple.TimeOf(looked).Add(1)
	require.Eventually(t, func() bool { return p.Status().Totals.Rows == 2 }, patient, time.Millisecond)
	require.Zero(t, p.Status().Totals.Late)
}
