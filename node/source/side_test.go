package source

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/ingest"
	"fednode/query/tuple"
)

// script is a source of given blocks, each made when it is asked for; its position is the number of blocks delivered.
type script struct {
	blocks []func() connect.Block
	// more keeps the source open at its end: each value lets one more of further follow.
	more    chan struct{}
	further []func() connect.Block
}

type scriptReader struct {
	s    *script
	next int
}

func (s *script) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	r := &scriptReader{s: s}
	if pos != nil {
		r.next = int(binary.LittleEndian.Uint64(pos))
	}
	return r, nil
}

func (r *scriptReader) Next(ctx context.Context) (*connect.Block, error) {
	n := len(r.s.blocks)
	var b connect.Block
	switch {
	case r.next < n:
		b = r.s.blocks[r.next]()
	case r.s.more == nil && r.next == n:
		b.Status = connect.Status{State: connect.Ended, End: connect.EndEOF}
	case r.s.more == nil:
		return nil, io.EOF
	default:
		select {
		case <-r.s.more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		b = r.s.further[r.next-n]()
	}
	r.next++
	b.Pos = binary.LittleEndian.AppendUint64(nil, uint64(r.next))
	return &b, nil
}

func (r *scriptReader) Close() error { return nil }

// rows makes a block of rows at times in milliseconds; a row's value is its time.
func rows(ms ...int64) func() connect.Block {
	return func() connect.Block {
		b := tuple.NewBatchBuilder(testSchema)
		for _, t := range ms {
			b.AppendInt(0, t)
			b.AppendBin(1, fmt.Appendf(nil, "at %d", t))
			b.EndRow(tuple.Time(t) * 1000)
		}
		return connect.Block{Batch: b.Take()}
	}
}

// broken makes a block of one record that cannot be read.
func broken(line int64, raw string) func() connect.Block {
	return func() connect.Block {
		return connect.Block{Rejects: []connect.Reject{{
			Reason: connect.WrongType, Field: "v", Place: connect.Place{File: "in.csv", Line: line, Offset: 10 * line}, Detail: "no number", Raw: []byte(raw), Size: int64(len(raw)),
		}}}
	}
}

// later is a time in milliseconds that is ahead of every clock.
const later = int64(7_258_118_400_000)

// mixed is n blocks of one row or record each: most are in time, the others are late, ahead, or cannot be read.
func mixed(n int) (s *script, late, unreadable []string) {
	s = &script{}
	for i := range n {
		ms := int64(i)
		switch {
		case i%7 == 3:
			raw := fmt.Sprintf("%d%s", i, strings.Repeat("x", 100))
			s.blocks = append(s.blocks, broken(ms, raw))
			unreadable = append(unreadable, fmt.Sprintf("wrong_type v in.csv %d %d no number %x", i, 10*i, raw))
		case i%11 == 5:
			s.blocks = append(s.blocks, rows(ms-100))
			late = append(late, fmt.Sprintf(`late {"v":%d,"k":"at %d"}`, ms-100, ms-100))
		case i%13 == 7:
			s.blocks = append(s.blocks, rows(later+ms))
			late = append(late, fmt.Sprintf(`future {"v":%d,"k":"at %d"}`, later+ms, later+ms))
		default:
			s.blocks = append(s.blocks, rows(ms))
		}
	}
	return s, late, unreadable
}

// sideConfig is config without slack and with a minute's skew.
func sideConfig(dir string, s connect.Source) Config {
	cfg := config(dir, s, &memAcks{})
	cfg.Rules.MaxFutureSkew = tuple.Minute
	return cfg
}

// columns returns some columns of a batch's row, in one line.
func columns(b *tuple.Batch, row int, names ...string) string {
	var cells []string
	for _, name := range names {
		at, ok := b.Schema.Index(name)
		if !ok {
			cells = append(cells, "no column "+name)
			continue
		}
		cells = append(cells, string(b.Cols[at].AppendText(nil, row)))
	}
	return strings.Join(cells, " ")
}

// lines renders a side row without what depends on when the test runs.
func lines(k SideKind, b *tuple.Batch, row int) string {
	if k == Late {
		return columns(b, row, "reason", "row")
	}
	return columns(b, row, "reason", "field", "file", "line", "offset", "detail", "raw")
}

// collectSide reads a side stream to its end, or until it has n rows, and checks that ids are consecutive, that stimes
// never fall, and that no row breaks a boundary's promise.
func collectSide(t *testing.T, s *Side, from tuple.Position, n int) (got []string, last tuple.Position) {
	t.Helper()
	c, err := s.Open(flow.Subscriber{Name: "reader", From: from, Counted: true})
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	last = from
	stime := tuple.MinTime
	for n <= 0 || len(got) < n {
		f, err := c.Next(ctx)
		require.NoError(t, err, "%d rows up to %v, status %+v", len(got), last, s.p.Status())
		switch f.Kind {
		case tuple.Boundary:
			require.Greater(t, f.Time, last.Time, "a boundary that says nothing new")
			last.Time, stime = f.Time, f.Time
			if f.Time == tuple.MaxTime {
				return got, last
			}
		case tuple.Insertion:
			require.Equal(t, last.ID+1, f.FirstID)
			require.EqualValues(t, f.Batch.Rows(), f.LastID-f.FirstID+1)
			require.NoError(t, f.Batch.Check())
			last.ID, last.Generation = f.LastID, f.Generation
			for i := range f.Batch.Rows() {
				row := f.Batch.Row(i)
				require.GreaterOrEqual(t, f.Batch.Time[row], stime)
				stime = f.Batch.Time[row]
				got = append(got, lines(s.kind, f.Batch, row))
			}
		default:
			t.Fatalf("unexpected %v", f)
		}
	}
	return got, last
}

var beginning = tuple.Position{Time: tuple.MinTime}

// TestLateRow shows a row that came 7 s too late with the limit it was held against, and that it is not in the stream.
func TestLateRow(t *testing.T) {
	cfg := sideConfig(t.TempDir(), &script{blocks: []func() connect.Block{rows(0, 1000, 9000), rows(500, 8000)}})
	cfg.Rules.MaxOutOfOrder = 2000 * tuple.Millisecond
	p, err := Open(cfg)
	require.NoError(t, err)
	defer running(t, p)()
	values, _ := collect(t, p, beginning, 0)
	require.Equal(t, []int64{0, 1000, 9000, 8000}, values)
	late := p.Sides()[Late]
	require.Equal(t, "north/numbers.late", late.Name())
	c, err := late.Open(flow.Subscriber{From: beginning})
	require.NoError(t, err)
	defer c.Close()
	f, err := c.Next(t.Context())
	for err == nil && f.Kind != tuple.Insertion {
		f, err = c.Next(t.Context())
	}
	require.NoError(t, err)
	require.Equal(t, 1, f.Batch.Rows())
	require.Equal(t, `late 1970-01-01T00:00:07Z 1970-01-01T00:00:00.5Z {"v":500,"k":"at 500"}`, columns(f.Batch, 0, "reason", "limit", "time", "row"))
}

// TestSidesOverRestarts shows that whatever the place where the source stops, each side stream holds every row set aside
// once and in order, and can be resumed from every position.
func TestSidesOverRestarts(t *testing.T) {
	const n = 2000
	dir := t.TempDir()
	src, late, unreadable := mixed(n)
	want := [sideKinds][]string{late, unreadable}
	var got [sideKinds][]string
	at := [sideKinds]tuple.Position{beginning, beginning}
	for life := range 6 {
		p, err := Open(sideConfig(dir, src))
		require.NoError(t, err)
		stop := running(t, p)
		for k, s := range p.Sides() {
			rows, pos := collectSide(t, s, at[k], 4+10*life)
			got[k], at[k] = append(got[k], rows...), pos
		}
		stop()
	}
	p, err := Open(sideConfig(dir, src))
	require.NoError(t, err)
	defer running(t, p)()
	for k, s := range p.Sides() {
		rows, end := collectSide(t, s, at[k], 0)
		require.Equal(t, want[k], append(got[k], rows...), s.Name())
		head := tuple.Position{Generation: end.Generation, ID: uint64(len(want[k])), Time: tuple.MaxTime}
		// A reader meets what is durable in the log; the proxy has word of it a moment later.
		require.Eventually(t, func() bool { return s.Head() == head }, patient, time.Millisecond, "%s ends at %v, want %v", s.Name(), s.Head(), head)
		for id := 0; id <= len(want[k]); id += 23 {
			again, _ := collectSide(t, s, tuple.Position{Generation: end.Generation, ID: uint64(id), Time: tuple.MinTime}, 0)
			require.True(t, slices.Equal(want[k][id:], again), "%s from id %d: %d rows, want %d", s.Name(), id, len(again), len(want[k])-id)
		}
	}
	values, _ := collect(t, p, beginning, 0)
	require.Len(t, values, n-len(late)-len(unreadable))
	status := p.Status()
	require.EqualValues(t, len(late), status.Totals.Late+status.Totals.Future)
	require.EqualValues(t, len(unreadable), status.Errors)
}

// TestSidesDoNotHoldTheLog shows that a reader of a side stream keeps nothing, that what went with the log is refused by
// name, and that the rest can be read, also where no row of the stream has come since.
func TestSidesDoNotHoldTheLog(t *testing.T) {
	src := &script{}
	for i := range int64(300) {
		src.blocks = append(src.blocks, rows(i))
	}
	const errors = 3000
	for i := range int64(errors) {
		src.blocks = append(src.blocks, broken(i+1, strings.Repeat("x", 100)))
	}
	p, err := Open(sideConfig(t.TempDir(), src))
	require.NoError(t, err)
	defer running(t, p)()
	side := p.Sides()[Unreadable]
	all, end := collectSide(t, side, beginning, 0)
	require.Len(t, all, errors)

	_, head := collect(t, p, beginning, 0)
	p.Ack("reader", head)
	side.Ack("reader", tuple.Position{Generation: end.Generation})
	p.free()
	_, err = side.Open(flow.Subscriber{Name: "reader", From: beginning, Counted: true})
	var gone *dcaa.TruncatedError
	require.ErrorAs(t, err, &gone)
	require.Positive(t, gone.First.ID)
	rest, _ := collectSide(t, side, gone.First, 0)
	require.Equal(t, all[gone.First.ID:], rest)
	require.NotEmpty(t, rest)
	require.Equal(t, map[string]tuple.Position{"reader": head}, p.Status().Subscribers)
}

// TestSideFollows shows that a reader at the end waits, gets what comes, and is told when the source stops here.
func TestSideFollows(t *testing.T) {
	src := &script{blocks: []func() connect.Block{rows(1000), rows(1)}, more: make(chan struct{}), further: []func() connect.Block{rows(2000), rows(2)}}
	p, err := Open(sideConfig(t.TempDir(), src))
	require.NoError(t, err)
	late := p.Sides()[Late]
	early, err := late.Open(flow.Subscriber{From: beginning})
	require.NoError(t, err, "a log that is still empty")
	defer early.Close()
	stop := running(t, p)
	for f, err := early.Next(t.Context()); err != nil || f.Kind != tuple.Insertion; f, err = early.Next(t.Context()) {
		require.NoError(t, err)
	}
	_, pos := collectSide(t, late, beginning, 1)
	_, err = late.Open(flow.Subscriber{From: tuple.Position{Generation: pos.Generation + 1}})
	require.ErrorAs(t, err, new(*dcaa.TruncatedError), "another generation")
	c, err := late.Open(flow.Subscriber{From: pos})
	require.NoError(t, err)
	defer c.Close()
	src.more <- struct{}{}
	src.more <- struct{}{}
	for {
		f, err := c.Next(t.Context())
		require.NoError(t, err)
		if f.Kind == tuple.Insertion {
			require.EqualValues(t, 2, f.FirstID)
			require.Equal(t, `late {"v":2,"k":"at 2"}`, lines(Late, f.Batch, 0))
			break
		}
	}
	stop()
	for err == nil {
		_, err = c.Next(t.Context())
	}
	require.ErrorIs(t, err, flow.ErrClosed)
	_, err = late.Open(flow.Subscriber{From: pos})
	require.ErrorIs(t, err, flow.ErrClosed)
}

// TestCountedOnly shows the policies under which records leave no trace but a count.
func TestCountedOnly(t *testing.T) {
	src, late, unreadable := mixed(200)
	cfg := sideConfig(t.TempDir(), src)
	cfg.OnError, cfg.Rules.Late, cfg.Rules.Future = ErrorSkip, ingest.LateDrop, ingest.FutureClamp
	p, err := Open(cfg)
	require.NoError(t, err)
	defer running(t, p)()
	for _, s := range p.Sides() {
		got, _ := collectSide(t, s, beginning, 0)
		require.Empty(t, got, s.Name())
	}
	status := p.Status()
	require.EqualValues(t, len(late), status.Totals.Late+status.Totals.Future)
	require.EqualValues(t, len(unreadable), status.Errors)
	require.EqualValues(t, len(unreadable), status.ByReason["wrong_type"])
}
