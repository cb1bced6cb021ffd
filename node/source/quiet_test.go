package source

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/query/tuple"
)

// handFed is a source that is there and gives a row when it gets one.
type handFed chan int64

type handFedReader struct {
	rows handFed
	told bool // that there is nothing to read
}

func (h handFed) Open(context.Context, []byte) (connect.Reader, error) {
	return &handFedReader{rows: h}, nil
}

func (r *handFedReader) Next(ctx context.Context) (*connect.Block, error) {
	block := &connect.Block{Status: connect.Status{State: connect.Idle}, Pos: []byte{1}}
	if !r.told {
		r.told = true
		return block, nil
	}
	select {
	case v := <-r.rows:
		b := tuple.NewBatchBuilder(testSchema)
		b.AppendInt(0, v)
		b.AppendBin(1, []byte("k"))
		b.EndRow(0)
		block.Batch = b.Take()
		return block, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *handFedReader) Close() error { return nil }

// wrongClock is off by some time.
type wrongClock struct {
	connect.SystemClock
	by time.Duration
}

func (c wrongClock) Now() time.Time { return c.SystemClock.Now().Add(c.by) }

// TestQuietOverRestarts: a source whose time is the arrival is quiet before and after it was away for an hour; its boundary
// follows the clock at once. If the clock was an hour ahead then, and is set right, the rows that come are in time.
func TestQuietOverRestarts(t *testing.T) {
	dir, acks, rows := t.TempDir(), &memAcks{}, make(handFed, 1)
	life := func(by time.Duration, what string, reached func(p *Proxy) bool) {
		t.Helper()
		c := config(dir, rows, acks)
		c.HasTime, c.Rules, c.Clock = false, ingest.Live(), wrongClock{by: by}
		c.Rules.MaxOutOfOrder = 0
		p, err := Open(c)
		require.NoError(t, err)
		defer running(t, p)()
		require.Eventually(t, func() bool { return reached(p) }, patient, time.Millisecond, what)
	}
	began := tuple.TimeOf(time.Now())
	hour := int64(time.Hour / time.Microsecond)
	rows <- 1
	life(0, "the boundary follows the clock", func(p *Proxy) bool {
		return p.Status().Totals.Rows == 1 && p.Head().Time > began.Add(500_000)
	})
	life(time.Hour, "it goes on where the clock is", func(p *Proxy) bool { return p.Head().Time >= began.Add(hour) })
	rows <- 2
	life(0, "the row is in time", func(p *Proxy) bool { return p.Status().Totals.Rows == 2 })
}
