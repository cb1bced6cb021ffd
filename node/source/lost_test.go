package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/storage/faultstore"
)

// brittle is a source of the rows 0, 1, 2, …; it breaks right after every few blocks, while these are still on their way
// to the log. Each time that it is opened it cuts its blocks otherwise.
type brittle struct{ rows, every, opened int }

type brittleReader struct {
	s                *brittle
	next, left, size int
}

var errBrittle = errors.New("the source broke")

func (s *brittle) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	s.opened++
	r := &brittleReader{s: s, left: s.every, size: 1 + s.opened%5}
	if pos != nil {
		r.next = int(binary.LittleEndian.Uint64(pos))
	}
	return r, nil
}

func (r *brittleReader) Next(context.Context) (*connect.Block, error) {
	switch {
	case r.next == r.s.rows:
		return nil, io.EOF
	case r.left == 0:
		return nil, errBrittle
	}
	b := tuple.NewBatchBuilder(testSchema)
	for n := r.size; n > 0 && r.next < r.s.rows; n-- {
		b.AppendInt(0, int64(r.next))
		b.AppendBin(1, nil)
		b.EndRow(tuple.Time(r.next))
		r.next++
	}
	r.left--
	block := &connect.Block{Batch: b.Take(), Pos: binary.LittleEndian.AppendUint64(nil, uint64(r.next))}
	if r.next == r.s.rows {
		block.Status = connect.Status{State: connect.Ended, End: connect.EndEOF}
	}
	return block, nil
}

func (r *brittleReader) Close() error { return nil }

// TestBreaksWhileCommitting shows that what is on its way to the log when the connector breaks is neither forgotten nor
// decided a second time: every id is in the log once.
func TestBreaksWhileCommitting(t *testing.T) {
	const rows = 300
	cfg := config(t.TempDir(), &brittle{rows: rows, every: 3}, &memAcks{})
	cfg.Clock = eager{}
	p, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	defer stop()
	collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
	if last := logged(t, p); last != rows {
		t.Fatalf("%d rows in the log, want %d", last, rows)
	}
}

// logged reads the log from its beginning, fails if an id is missing or comes twice, and returns the last.
func logged(t *testing.T, p *Proxy) (last uint64) {
	t.Helper()
	r, err := p.log.First()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, ok, err := r.TryNext()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return last
		}
		c, err := decodeRecord(rec.Payload, testSchema, withRows)
		if err != nil {
			t.Fatal(err)
		}
		if c.batch == nil {
			continue
		}
		if c.firstID != last+1 {
			t.Fatalf("the log has id %d after id %d", c.firstID, last)
		}
		last = c.lastID()
	}
}

// eager is a clock on which nobody waits longer than a millisecond.
type eager struct{ connect.SystemClock }

func (c eager) After(d time.Duration) <-chan time.Time {
	return c.SystemClock.After(min(d, time.Millisecond))
}

// TestFailedWrites shows that whichever write to the log fails, for a while, every id gets into it once and in order, and
// the stream comes to its end.
func TestFailedWrites(t *testing.T) {
	const rows = 200
	failed := 0
	for write := 1; write < 30; write += 2 {
		for _, times := range []int{1, 3} {
			plan := faultstore.NewPlan(faultstore.Rule{})
			cfg := config(t.TempDir(), &brittle{rows: rows, every: -1}, &memAcks{})
			cfg.Clock, cfg.Storage.OpenFile = eager{}, faultstore.Files(plan)
			p, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			plan.Set(faultstore.Rule{FromWrite: write, Times: times, Torn: write%3 == 0})
			stop := running(t, p)
			got, _ := collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
			if last := logged(t, p); len(got) != rows || last != rows {
				t.Fatalf("write %d: %d rows sent, %d in the log, want %d", write, len(got), last, rows)
			}
			failed += plan.Failed()
			plan.Set(faultstore.Rule{})
			stop()
		}
	}
	if failed < 10 {
		t.Fatalf("only %d writes failed", failed)
	}
}

// TestStretchOfAGap shows that who asks for rows which are gone is told up to which stime they may reach: after truncation,
// and after a new generation, before its first commit and behind it. Nobody is told of a stretch before what it has.
func TestStretchOfAGap(t *testing.T) {
	dir := t.TempDir()
	src := &script{blocks: []func() connect.Block{rows(1000, 2000)}, more: make(chan struct{})}
	p, err := Open(sideConfig(dir, src))
	require.NoError(t, err)
	stop := running(t, p)
	collect(t, p, beginning, 2)
	stop()
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))

	p, err = Open(sideConfig(copied, src))
	require.NoError(t, err)
	stretch := func(p *Proxy) (until tuple.Time) {
		t.Helper()
		_, err := p.Open(flow.Subscriber{Name: "late", From: tuple.Position{Generation: 1, ID: 1, Time: 1000}})
		var gone *dcaa.TruncatedError
		require.ErrorAs(t, err, &gone)
		require.Equal(t, uint64(2), gone.First.Generation)
		return gone.First.Time
	}
	high := p.Status().High
	require.Equal(t, high+1, stretch(p), "before the first commit of the new generation")
	require.NoError(t, p.Close())

	src.blocks = append(src.blocks, rows(5000, 6000), rows(9000))
	p, err = Open(sideConfig(copied, src))
	require.NoError(t, err)
	defer running(t, p)()
	collect(t, p, beginning, 3)
	until := stretch(p)
	require.GreaterOrEqual(t, until, high+1, "all that may be lost lies before")
	require.Less(t, until, p.Status().High, "it ends at the first commit of the new generation")
}

// TestUnboundedSlackLargerThanLog shows that a source of which nothing can be acknowledged before its end says so and ends
// when it does not fit into its log, instead of waiting for ever; one with slack waits, and goes on.
func TestUnboundedSlackLargerThanLog(t *testing.T) {
	for name, slack := range map[string]int64{"inf": ingest.Unbounded, "some": tuple.Second} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t.TempDir(), &brittle{rows: 5000, every: -1}, &memAcks{})
			cfg.Clock, cfg.Rules.MaxOutOfOrder, cfg.MaxLogBytes = eager{}, slack, 20_000
			p, err := Open(cfg)
			require.NoError(t, err)
			defer running(t, p)()
			failure := func() string { return p.Status().Failure }
			require.Eventually(t, func() bool { return failure() != "" }, time.Minute, time.Millisecond)
			if slack == ingest.Unbounded {
				require.Contains(t, failure(), "give a duration")
				return
			}
			require.Contains(t, failure(), "until subscribers acknowledge")
		})
	}
}

// TestCountedNamesAreBounded shows that a partner cannot fill the store with names.
func TestCountedNamesAreBounded(t *testing.T) {
	cfg := config(t.TempDir(), &brittle{rows: 1, every: -1}, &memAcks{})
	cfg.Own = "north/"
	p, err := Open(cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	open := func(name string) error {
		_, err := p.Open(flow.Subscriber{Name: name, From: tuple.Position{Time: tuple.MinTime}, Counted: true})
		return err
	}
	for n := range flow.MaxPerOrg {
		require.NoError(t, open(fmt.Sprint("south/s/q/f", n)))
	}
	require.ErrorAs(t, open("south/s/q/more"), new(*flow.CrowdedError))
	require.NoError(t, open("south/s/q/f0"))
	require.NoError(t, open("north/n/q/f"))
	require.Len(t, p.Status().Subscribers, flow.MaxPerOrg+1)
}
