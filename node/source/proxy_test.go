package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const patient = 2 * time.Minute

var testSchema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "k", Type: tuple.Of(tuple.String)})

// numbers is a source of the rows 0, 1, 2, … in blocks of a changing size; every seventh record cannot be read.
type numbers struct {
	rows int
	// stopAt ends the reader with an error once it has delivered so many rows; 0 is never.
	stopAt int
}

type numbersReader struct {
	s    *numbers
	next int
	done bool
}

func (s *numbers) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	r := &numbersReader{s: s}
	if pos != nil {
		r.next = int(binary.LittleEndian.Uint64(pos))
	}
	return r, nil
}

var errStop = errors.New("the source went away")

func (r *numbersReader) Next(ctx context.Context) (*connect.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.done {
		return nil, io.EOF
	}
	if r.s.stopAt > 0 && r.next >= r.s.stopAt {
		r.s.stopAt = 0
		return nil, errStop
	}
	b := tuple.NewBatchBuilder(testSchema)
	block := &connect.Block{}
	for n := 1 + r.next%5; n > 0 && r.next < r.s.rows; n-- {
		if r.next%7 == 3 {
			block.Rejects = append(block.Rejects, connect.Reject{Reason: connect.WrongType, Field: "v", Raw: []byte("x"), Before: b.Rows()})
		} else {
			b.AppendInt(0, int64(r.next))
			b.AppendBin(1, fmt.Appendf(nil, "k%d", r.next%3))
			b.EndRow(tuple.Time(r.next) * 1000)
		}
		r.next++
	}
	if b.Rows() > 0 {
		block.Batch = b.Take()
	}
	if r.next >= r.s.rows {
		r.done, block.Status = true, connect.Status{State: connect.Ended, End: connect.EndEOF}
	}
	block.Pos = binary.LittleEndian.AppendUint64(nil, uint64(r.next))
	return block, nil
}

func (r *numbersReader) Close() error { return nil }

// memAcks is an AckStore in memory.
type memAcks struct {
	mu   sync.Mutex
	acks map[string]tuple.Position
	fail error
}

func (m *memAcks) Load(string) (map[string]tuple.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.acks), nil
}

func (m *memAcks) Store(_ string, a map[string]tuple.Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == nil {
		m.acks = a
	}
	return m.fail
}

func config(dir string, s connect.Source, acks AckStore) Config {
	rules := ingest.Bounded()
	rules.MaxOutOfOrder = 0
	return Config{
		Name: "north/numbers", Schema: testSchema, Dir: dir, HasTime: true, Rules: rules, Source: s,
		Clock: connect.SystemClock{}, Log: zap.NewNop(), Acks: acks, TailBytes: 2000,
		Storage: seglog.Options{SegmentBytes: seglog.MinSegmentBytes},
	}
}

// collect reads a stream to its end, or until it has n rows, and returns the values by id.
func collect(t *testing.T, p *Proxy, from tuple.Position, n int) (values []int64, last tuple.Position) {
	t.Helper()
	c, err := p.Open(flow.Subscriber{Name: "reader", From: from, Counted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	last = from
	for n <= 0 || len(values) < n {
		f, err := c.Next(ctx)
		if err != nil {
			t.Fatalf("%v; %d rows up to %v, status %+v", err, len(values), last, p.Status())
		}
		if f.Kind == tuple.Boundary {
			last.Time = f.Time
			if f.Time == tuple.MaxTime {
				return values, last
			}
			continue
		}
		if f = f.After(last.ID); f.FirstID != last.ID+1 {
			t.Fatalf("ids %d to %d after %d", f.FirstID, f.LastID, last.ID)
		}
		last.ID, last.Generation = f.LastID, f.Generation
		values = append(values, f.Batch.Cols[0].Int...)
	}
	return values, last
}

func running(t *testing.T, p *Proxy) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patient):
			buf := make([]byte, 1<<20)
			t.Errorf("the proxy does not stop:\n%s", buf[:runtime.Stack(buf, true)])
			return
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func expected(rows int) []int64 {
	var want []int64
	for i := range rows {
		if i%7 != 3 {
			want = append(want, int64(i))
		}
	}
	return want
}

// TestRestart shows that whatever the place where the source proxy stops, and although the connector fails on the way,
// the stream that comes out is the one of an undisturbed run, from memory or from the log.
func TestRestart(t *testing.T) {
	const rows = 4000
	dir, acks := t.TempDir(), &memAcks{}
	src := &numbers{rows: rows, stopAt: 1000}
	pos := tuple.Position{Time: tuple.MinTime}
	var got []int64
	for take := 1; len(got) < len(expected(rows))-500; take += 300 {
		p, err := Open(config(dir, src, acks))
		if err != nil {
			t.Fatal(err)
		}
		stop := running(t, p)
		var part []int64
		part, pos = collect(t, p, pos, take)
		got = append(got, part...)
		p.Ack("reader", pos)
		stop()
	}
	p, err := Open(config(dir, src, acks))
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	part, _ := collect(t, p, pos, 0)
	got = append(got, part...)
	if want := expected(rows); !slices.Equal(got, want) {
		t.Fatalf("%d rows, want %d; first difference at %d", len(got), len(want), firstDifference(got, want))
	}
	s := p.Status()
	if s.Errors != rows/7 && s.Errors != rows/7+1 || s.Totals.Rows != uint64(len(expected(rows))) {
		t.Fatalf("status %+v", s)
	}
	if s.Condition != ingest.Ended {
		t.Fatalf("condition %v, want ended", s.Condition)
	}
	stop()
}

func firstDifference(a, b []int64) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestReplayFromAnywhere shows that every position can be resumed from while the log holds it, and that what has been
// freed is refused by name.
func TestReplayFromAnywhere(t *testing.T) {
	const rows = 3000
	p, err := Open(config(t.TempDir(), &numbers{rows: rows}, &memAcks{}))
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	defer stop()
	want, end := collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
	for id := uint64(0); id <= end.ID; id += 97 {
		got, _ := collect(t, p, tuple.Position{Generation: end.Generation, ID: id, Time: tuple.MinTime}, 0)
		if !slices.Equal(got, want[id:]) {
			t.Fatalf("from id %d: %d rows, want %d", id, len(got), len(want)-int(id))
		}
	}
	p.Ack("reader", end)
	p.free()
	if first := p.first(); first.ID > 0 {
		_, err := p.Open(flow.Subscriber{Name: "late", From: tuple.Position{Generation: end.Generation}})
		var gone *dcaa.TruncatedError
		if !errors.As(err, &gone) {
			t.Fatalf("got %v, want a TruncatedError", err)
		}
	}
}

// TestEndAfterRestart shows that the end of a stream reaches a subscriber although the source proxy has been restarted
// since it was logged.
func TestEndAfterRestart(t *testing.T) {
	dir, acks := t.TempDir(), &memAcks{}
	for range 3 {
		p, err := Open(config(dir, &numbers{rows: 50}, acks))
		if err != nil {
			t.Fatal(err)
		}
		stop := running(t, p)
		got, last := collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
		if !slices.Equal(got, expected(50)) || last.Time != tuple.MaxTime {
			t.Fatalf("%d rows to %v", len(got), last)
		}
		stop()
	}
}

// TestPartnerLapses shows that a partner which does not acknowledge is no longer waited for once the log is too large for
// it, while our own subscribers are.
func TestPartnerLapses(t *testing.T) {
	cfg := config(t.TempDir(), &numbers{rows: 3000}, &memAcks{})
	cfg.Own, cfg.Partner = "north/", Partner{Bytes: 10_000}
	p, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	defer stop()
	for _, who := range []string{"south/s1/q/f", "north/n1/q/f"} {
		c, err := p.Open(flow.Subscriber{Name: who, From: tuple.Position{Time: tuple.MinTime}, Counted: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
	p.Forget("reader")
	p.free()
	left := p.Status().Subscribers
	if _, ok := left["south/s1/q/f"]; ok {
		t.Fatal("the partner is still waited for")
	}
	if _, ok := left["north/n1/q/f"]; !ok {
		t.Fatal("our own subscriber is no longer waited for")
	}
}

// TestOnErrorFail shows that a stream which must not lose a record stops at the first it cannot read, and says why.
func TestOnErrorFail(t *testing.T) {
	cfg := config(t.TempDir(), &numbers{rows: 100}, &memAcks{})
	cfg.OnError = ErrorFail
	p, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	defer stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); p.Status().Failure == ""; <-tick.C {
		if time.Since(began) > patient {
			t.Fatal("no failure shown")
		}
	}
}

// TestOtherColumns shows that a log is not read with columns it was not written with.
func TestOtherColumns(t *testing.T) {
	dir := t.TempDir()
	p, err := Open(config(dir, &numbers{rows: 10}, &memAcks{}))
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
	stop()
	cfg := config(dir, &numbers{rows: 10}, &memAcks{})
	cfg.Schema = tuple.MustSchema(tuple.Field{Name: "w", Type: tuple.Of(tuple.Int64)})
	_, err = Open(cfg)
	var other *SchemaError
	if !errors.As(err, &other) {
		t.Fatalf("got %v, want a SchemaError", err)
	}
}

// TestAcksNotStored shows that acknowledgements which could not be stored are stored when that is possible again, and that
// nothing is freed meanwhile.
func TestAcksNotStored(t *testing.T) {
	store := &memAcks{fail: errors.New("no space")}
	p, err := Open(config(t.TempDir(), &numbers{rows: 3000}, store))
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, p)
	_, end := collect(t, p, tuple.Position{Time: tuple.MinTime}, 0)
	p.Ack("reader", end)
	p.free()
	if first := p.first(); first.ID != 0 {
		t.Fatalf("the log begins at %v although nothing was stored", first)
	}
	stop()
	store.fail = nil
	p.free()
	if got := store.acks["reader"]; got != end {
		t.Fatalf("stored %v, want %v", got, end)
	}
}
