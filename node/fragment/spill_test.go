package fragment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage/disk"
	"fednode/storage/seglog"
)

// until waits for a condition.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for patience := time.After(time.Minute); !so(); {
		select {
		case <-time.After(time.Millisecond):
		case <-patience:
			t.Fatalf("waited for: %s", what)
		}
	}
}

// logOf returns the directory of an output's log, "" if there is none.
func logOf(t testing.TB, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// TestSpillOverRestarts shows that a fragment whose reader is away goes on to its end, puts on disk what does not fit into
// memory, and gives all of it when the reader comes, however often it crashes or stops before and meanwhile; and that the
// disk is given back.
func TestSpillOverRestarts(t *testing.T) {
	const rows = 3000
	calm := newHarness(t, rows)
	calm.start()
	want := calm.collect(func(int) {})
	calm.stop()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 17))
			h := newHarness(t, rows)
			h.overflow = filepath.Join(t.TempDir(), "spill")
			h.start()
			again := func() {
				if rnd.IntN(2) == 0 {
					h.store.crash()
				}
				h.stop()
				h.start()
			}
			for k := range 3 { // nobody reads
				until(t, "results on disk", func() bool { return h.runner.Outputs()[0].Spilled().Bytes > int64(1000*k) })
				again()
			}
			until(t, "the end", func() bool { return h.runner.Outputs()[0].Head().Time == tuple.MaxTime })
			if logOf(t, h.overflow) == "" {
				t.Fatal("there is no log")
			}
			next := 1 + rnd.IntN(20)
			got := h.collect(func(n int) {
				if n >= next {
					next = n + 1 + rnd.IntN(40)
					again()
				}
			})
			if !slices.Equal(got, want) || len(h.gaps) > 0 {
				t.Fatalf("%d results and %d gaps, want %d and none", len(got), len(h.gaps), len(want))
			}
			out := h.runner.Outputs()[0]
			out.Ack("sink", out.Head())
			until(t, "what has been acknowledged to be freed", func() bool { return out.Spilled().Bytes == 0 })
			h.stop()
		})
	}
}

// TestUnusedLogGoes shows that a fragment which begins with no reference to its log removes it.
func TestUnusedLogGoes(t *testing.T) {
	h := newHarness(t, 10)
	h.overflow = filepath.Join(t.TempDir(), "spill")
	h.start()
	h.stop()
	o := newOverflow(&h.runner.cfg, h.runner.overflows[0].dir, h.runner.Outputs()[0].Schema())
	_, frames := h.runner.Outputs()[0].Unacknowledged()
	if _, _, _, err := o.Put(frames); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if logOf(t, h.overflow) == "" {
		t.Fatal("there is no log")
	}
	h.start()
	defer h.stop()
	if dir := logOf(t, h.overflow); dir != "" {
		t.Fatalf("%s is left", dir)
	}
}

// TestSpilledLogIsGone shows that results whose log has been lost are told of by a gap, and that the fragment runs.
func TestSpilledLogIsGone(t *testing.T) {
	calm := newHarness(t, 3000)
	calm.start()
	want := calm.collect(func(int) {})
	calm.stop()
	h := newHarness(t, 3000)
	h.overflow = filepath.Join(t.TempDir(), "spill")
	h.start()
	until(t, "the end", func() bool { return h.runner.Outputs()[0].Head().Time == tuple.MaxTime })
	h.stop()
	if err := os.RemoveAll(h.overflow); err != nil {
		t.Fatal(err)
	}
	h.start()
	defer h.stop()
	got := h.collect(func(int) {})
	if len(h.gaps) != 1 || len(got) == len(want) || !slices.Equal(got, want[len(want)-len(got):]) {
		t.Fatalf("%d results of %d, %d gaps; want one gap, and what follows it", len(got), len(want), len(h.gaps))
	}
}

// TestSpilledRecordIsDamaged shows that a byte of the log that has changed costs the rows of one record, which a gap names, and
// none before or behind them; and that cutting the log's end costs those at its end.
func TestSpilledRecordIsDamaged(t *testing.T) {
	calm := newHarness(t, 3000)
	calm.start()
	want := calm.collect(func(int) {})
	calm.stop()
	flip := func(log []byte, at int) []byte { log[at] ^= 1; return log }
	cases := map[string]struct {
		of     func(records int) int // the record that is hit
		damage func(log []byte, at int) []byte
	}{
		"first":  {func(int) int { return 0 }, flip},
		"middle": {func(records int) int { return records / 2 }, flip},
		"end":    {func(records int) int { return records - 1 }, func(log []byte, at int) []byte { return log[:at] }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, 3000)
			h.overflow = filepath.Join(t.TempDir(), "spill")
			h.start()
			until(t, "the end", func() bool { return h.runner.Outputs()[0].Head().Time == tuple.MaxTime })
			h.stop()
			spilled := h.referred()
			if len(spilled) < 3 {
				t.Fatalf("the recovery point refers to %d records", len(spilled))
			}
			hit := spilled[c.of(len(spilled))]
			h.damage(hit.Away.Record, c.damage)
			h.start()
			defer h.stop()
			got := h.collect(func(int) {})
			left := slices.Delete(slices.Clone(want), int(hit.Frame.FirstID)-1, int(hit.Frame.LastID))
			if len(h.gaps) != 1 || len(left) == len(want) || !slices.Equal(got, left) {
				t.Fatalf("%d results of %d, gaps %v; want one gap, and all but %d to %d", len(got), len(want), h.gaps, hit.Frame.FirstID, hit.Frame.LastID)
			}
		})
	}
}

// referred returns what the last recovery point refers to in the log. The log may hold more: what has left the memory since
// the point was cut is in the point itself, and nobody misses it in the log.
func (h *harness) referred() (spilled []dcaa.Held) {
	h.t.Helper()
	p, _, err := h.store.LoadPoint("north/q/sums")
	if err != nil {
		h.t.Fatal(err)
	}
	held, err := entriesOf(&p.Outputs[0], h.runner.Outputs()[0].Schema())
	if err != nil {
		h.t.Fatal(err)
	}
	return slices.DeleteFunc(held, func(e dcaa.Held) bool { return e.Away.Record == 0 })
}

// damage changes the log at the middle of a record.
func (h *harness) damage(record uint64, how func(log []byte, at int) []byte) {
	h.t.Helper()
	dir := logOf(h.t, h.overflow)
	payload := payloadOf(h.t, dir, record)
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(files) != 1 {
		h.t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		h.t.Fatal(err)
	}
	at := bytes.Index(b, payload)
	if at < 0 {
		h.t.Fatalf("record %d is not in the log as it is", record)
	}
	if err := os.WriteFile(files[0], how(b, at+len(payload)/2), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// payloadOf reads a record of a log that nobody has open.
func payloadOf(t testing.TB, dir string, record uint64) []byte {
	t.Helper()
	log, _, err := seglog.Open(dir, seglog.Options{SegmentBytes: overflowSegment, PayloadBytes: seglog.MaxPayloadBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r, err := log.Reader(seglog.Position{Generation: log.Identity().Generation, Key: record})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, ok, err := r.TryNext()
	if err != nil || !ok || rec.Key != record {
		t.Fatal(rec.Key, ok, err)
	}
	return slices.Clone(rec.Payload)
}

// TestPortableState shows that what another replica is given refers to nothing on this node's disk.
func TestPortableState(t *testing.T) {
	row := func(id uint64, record uint64) dcaa.Held {
		return dcaa.Held{Frame: &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id, Batch: new(tuple.Batch)}, Away: dcaa.Away{Record: record}}
	}
	gap := func(generation, id uint64) dcaa.Held {
		return dcaa.Held{Frame: &tuple.Frame{Kind: tuple.Gap, Generation: generation, FirstID: id}}
	}
	var d draft
	for _, held := range [][]dcaa.Held{{row(1, 5), row(2, 0), row(3, 6), row(4, 0), row(5, 0)}, {row(1, 0)}, {row(1, 7)},
		{row(1, 7), gap(1, 91), row(2, 0)}, {row(1, 7), gap(2, 91)}, {gap(2, 91)}} {
		d.readers = append(d.readers, readers{held: held})
	}
	d = d.portable()
	for n, want := range [][]uint64{{4, 5}, {1}, nil, {91, 2}, nil, {91}} {
		var got []uint64
		for _, h := range d.readers[n].held {
			got = append(got, h.Frame.FirstID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("output %d: ids %v, want %v", n, got, want)
		}
	}
}

// TestOverflowLog shows that records are found again after the log has been opened anew, that their names are not used again,
// and that what has been freed, or never was, is lost.
func TestOverflowLog(t *testing.T) {
	h := newHarness(t, 500)
	source := h.net.find("north/a").(*flow.Output)
	_, frames := source.Unacknowledged()
	frames[1].Age, frames[1].Normal = 70, 7
	frames = slices.DeleteFunc(frames, func(f *tuple.Frame) bool { return f.Time == tuple.MaxTime })
	cfg := Config{Clock: fixedClock{time.UnixMicro(5000)}}
	dir := filepath.Join(t.TempDir(), "log")
	open := func() *overflow { return newOverflow(&cfg, dir, source.Schema()) }
	same := func(got, want []*tuple.Frame) bool {
		return slices.EqualFunc(got, want, func(a, b *tuple.Frame) bool {
			if a.Kind != b.Kind || a.Generation != b.Generation || a.FirstID != b.FirstID || a.LastID != b.LastID || a.Time != b.Time || a.Age != b.Age || a.Normal != b.Normal {
				return false
			}
			return a.Batch == nil || line(a, a.Batch.Rows()-1) == line(b, b.Batch.Rows()-1)
		})
	}
	o := open()
	if oldest, err := o.Resume(1, 2); oldest != 0 || err != nil {
		t.Fatalf("nothing was ever stored: %d, %v", oldest, err)
	}
	if _, err := o.Get(5000); !errors.Is(err, flow.ErrLost) {
		t.Fatal(err)
	}
	n, first, bytes, err := o.Put(frames[:7])
	if err != nil || n != 7 || first != 5000 || bytes == 0 {
		t.Fatal(n, first, bytes, err)
	}
	_, second, _, err := o.Put(frames[7:9])
	if err != nil || second != first+1 {
		t.Fatal(second, err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := o.Put(frames); !errors.Is(err, flow.ErrClosed) && !errors.Is(err, fs.ErrClosed) {
		t.Fatalf("a closed log takes more: %v", err)
	}
	o = open()
	defer o.Close()
	if oldest, err := o.Resume(first, second); oldest != first || err != nil {
		t.Fatalf("%d, %v; want to go on with %d", oldest, err, first)
	}
	if got, err := o.Get(first); err != nil || !same(got, frames[:7]) {
		t.Fatalf("%d frames, %v", len(got), err)
	}
	if _, third, _, err := o.Put(frames[9:]); err != nil || third != second+1 {
		t.Fatal(third, err)
	}
	if _, err := o.Get(second + 9); !errors.Is(err, flow.ErrLost) {
		t.Fatal(err)
	}
	if err := o.Free(0); err != nil {
		t.Fatal(err)
	}
	if oldest, err := o.Resume(second+9, second+9); oldest != 0 || err != nil {
		t.Fatalf("all of it is lost: %d, %v", oldest, err)
	}
	if _, err := o.Resume(first, second+9); err != nil {
		t.Fatal(err)
	}
	if _, next, _, err := o.Put(frames[9:]); err != nil || next != second+10 {
		t.Fatalf("the name of a record whose place is lost is used again: %d, %v", next, err)
	}
}

// TestOverflowWithoutRoom shows that nothing is put on a disk without room.
func TestOverflowWithoutRoom(t *testing.T) {
	h := newHarness(t, 10)
	source := h.net.find("north/a").(*flow.Output)
	_, frames := source.Unacknowledged()
	dir := filepath.Join(t.TempDir(), "log")
	o := newOverflow(&Config{Clock: fixedClock{time.UnixMicro(1)}, Room: func() error { return disk.ErrFull }}, dir, source.Schema())
	if _, _, _, err := o.Put(frames[:1]); !errors.Is(err, disk.ErrFull) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("something was written: %v", err)
	}
}

// fixedClock stands still.
type fixedClock struct{ at time.Time }

func (c fixedClock) Now() time.Time                         { return c.at }
func (c fixedClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
