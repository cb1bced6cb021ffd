package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"
	"fednode/query/tuple/tupletest"

	"github.com/stretchr/testify/require"
)

// send writes frames and returns the bytes of the data stream.
func send(t testing.TB, s *tuple.Schema, opt WriterOptions, frames ...*tuple.Frame) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s, opt)
	require.NoError(t, err)
	for _, f := range frames {
		require.NoError(t, w.WriteFrame(f))
	}
	return buf.Bytes()
}

// receive reads frames until an error, which is io.EOF when all went well.
func receive(t testing.TB, data []byte, opt ReaderOptions) ([]*tuple.Frame, error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), opt)
	require.NoError(t, err)
	var frames []*tuple.Frame
	for {
		f, err := r.ReadFrame()
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

// transcript renders frames so that equal streams are equal text: rows one by one with their ids, stretches joined.
func transcript(frames []*tuple.Frame) []string {
	var lines []string
	var open *tuple.Frame
	closeStretch := func() {
		if open != nil {
			lines = append(lines, fmt.Sprintf("%v through %d", open.Kind, open.LastID))
			open = nil
		}
	}
	for _, f := range frames {
		if f.Kind != tuple.Insertion && f.Kind != tuple.Tentative {
			closeStretch()
			lines = append(lines, fmt.Sprintf("%v missing=%v", f, f.Missing))
			continue
		}
		if open != nil && (open.Kind != f.Kind || open.Generation != f.Generation || open.Run != f.Run) {
			closeStretch()
		}
		rows := tupletest.Lines(f.Batch)
		for i, row := range rows {
			id := f.FirstID + uint64(i)
			if f.IDs != nil {
				id = f.IDs[i]
			}
			lines = append(lines, fmt.Sprintf("%d:%d run=%v missing=%v %s", f.Generation, id, f.Run, f.Missing, row))
		}
		open = f
	}
	closeStretch()
	return lines
}

// script makes a stream that keeps all rules: batches with boundaries between them, now and then held back rows, a run of
// tentative rows, a gap with a new generation.
func script(r *rand.Rand, s *tuple.Schema) []*tuple.Frame {
	var frames []*tuple.Frame
	generation, id, at := uint64(1), uint64(1+r.IntN(3)), tuple.Time(1000)
	run := tuple.Run{Producer: "12D3KooWproducer", Incarnation: 4}
	for range 12 {
		at += 1_000_000
		batch := tupletest.Batches(r, s, 1, 60, at)[0]
		rows := uint64(batch.Rows())
		switch r.IntN(6) {
		case 0:
			run.N++
			missing := []tuple.Missing{{Stream: "b/conns", Since: at}}
			if rows > 0 {
				frames = append(frames, &tuple.Frame{Kind: tuple.Tentative, Run: run, FirstID: 1, LastID: rows, Batch: batch, Missing: missing})
			}
			frames = append(frames, &tuple.Frame{Kind: tuple.TentativeBoundary, Time: at, Age: 5, Run: run, Missing: missing},
				&tuple.Frame{Kind: tuple.Undo, Run: run}, &tuple.Frame{Kind: tuple.RecDone, Run: run})
		case 1:
			generation++
			id = 1 + uint64(r.IntN(5))
			frames = append(frames, &tuple.Frame{Kind: tuple.Gap, Time: at - 500, To: at, Generation: generation, FirstID: id - 1, Reason: "log damaged"})
		case 2:
			f := heldBack(r, batch, generation, id)
			frames, id = append(frames, f), f.LastID+1
		default:
			if rows > 0 {
				frames = append(frames, &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: id, LastID: id + rows - 1, Batch: batch})
				id += rows
			}
		}
		frames = append(frames, &tuple.Frame{Kind: tuple.Boundary, Time: at, Age: int64(r.IntN(1000)), Normal: int64(r.IntN(1000))})
	}
	return append(frames, &tuple.Frame{Kind: tuple.Boundary, Time: tuple.MaxTime})
}

// heldBack is an insertion of which an export let through only some ids.
func heldBack(r *rand.Rand, b *tuple.Batch, generation, id uint64) *tuple.Frame {
	f := &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: id, Batch: b, IDs: []uint64{}}
	for range b.Rows() {
		id += uint64(r.IntN(3))
		f.IDs = append(f.IDs, id)
		id++
	}
	f.LastID = max(f.FirstID, id+uint64(r.IntN(2)))
	return f
}

// Cuts, dictionaries and compression never show: the receiver has the same rows, ids and order.
func TestEncodingNeverShows(t *testing.T) {
	seeds := uint64(80)
	if testing.Short() {
		seeds = 8 // compressors are large, and slow to make under the race detector
	}
	for seed := range seeds {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		frames := script(r, s)
		want := transcript(frames)
		for _, opt := range []WriterOptions{{}, {CutBytes: 1}, {CutBytes: 700, Codec: stream.LZ4}, {CutBytes: 300, Codec: stream.Zstd}} {
			got, err := receive(t, send(t, s, opt, frames...), ReaderOptions{Schema: s})
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, want, transcript(got), "seed %d %+v", seed, opt)
			for _, f := range got {
				if f.Batch != nil {
					require.NoError(t, f.Batch.Check())
				}
			}
		}
	}
}

// A frame that reaches the reader in pieces of any size is the same frame.
func TestReadsInPieces(t *testing.T) {
	r := tupletest.Source(5)
	s := tupletest.Schema(r)
	frames := script(r, s)
	data := send(t, s, WriterOptions{}, frames...)
	rd, err := NewReader(&trickle{data: data, r: r}, ReaderOptions{})
	require.NoError(t, err)
	var got []*tuple.Frame
	for f, err := rd.ReadFrame(); err == nil; f, err = rd.ReadFrame() {
		got = append(got, f)
	}
	require.Equal(t, transcript(frames), transcript(got))
}

type trickle struct {
	data []byte
	r    *rand.Rand
}

func (p *trickle) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.data[:min(len(p.data), 1+p.r.IntN(9))])
	p.data = p.data[n:]
	return n, nil
}

// words is a batch of n rows whose text column comes from a function.
func words(n int, text func(i int) string) *tuple.Batch {
	b := tuple.NewBatchBuilder(tuple.MustSchema(
		tuple.Field{Name: "name", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}))
	for i := range n {
		b.AppendBin(0, []byte(text(i)))
		b.AppendInt(1, int64(i))
		b.EndRow(tuple.Time(i))
	}
	return b.Take()
}

func insertion(first uint64, b *tuple.Batch) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + uint64(b.Rows()) - 1, Batch: b}
}

// frameSizes returns the length of each frame in the bytes of a stream.
func frameSizes(data []byte) (sizes []int) {
	for len(data) > 0 {
		n := headerSize + int(data[0]) + int(data[1])<<8 + int(data[2])<<16
		sizes, data = append(sizes, n), data[n:]
	}
	return sizes
}

// A batch of many megabytes leaves in frames of at most 256 KiB, cut where the limit is, not far below it.
func TestBigBatchesAreCut(t *testing.T) {
	for name, text := range map[string]func(int) string{
		"few values":  func(i int) string { return fmt.Sprint("host-", i%1000) },
		"all new":     func(i int) string { return fmt.Sprintf("a rather long host name number %d", i) },
		"large texts": func(i int) string { return string(bytes.Repeat([]byte{'x'}, i%5000)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := words(200_000/10, text)
			data := send(t, b.Schema, WriterOptions{}, insertion(1, b))
			sizes := frameSizes(data)
			for _, n := range sizes {
				require.LessOrEqual(t, n, CutBytes+4096)
			}
			require.LessOrEqual(t, len(sizes), len(data)/(CutBytes*6/10)+2)
			got, err := receive(t, data, ReaderOptions{})
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, transcript([]*tuple.Frame{insertion(1, b)}), transcript(got))
		})
	}
}

// One row larger than the cut goes alone; one larger than a frame is refused with a clear error.
func TestHugeRows(t *testing.T) {
	big := string(bytes.Repeat([]byte{'x'}, 1<<20))
	b := words(3, func(i int) string { return big[:len(big)-i] })
	data := send(t, b.Schema, WriterOptions{}, insertion(1, b))
	require.Len(t, frameSizes(data), 3)
	got, err := receive(t, data, ReaderOptions{})
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, transcript([]*tuple.Frame{insertion(1, b)}), transcript(got))

	// The largest record that max_row lets in.
	largest := words(1, func(int) string { return string(bytes.Repeat([]byte{'x'}, 4<<20)) })
	got, err = receive(t, send(t, largest.Schema, WriterOptions{}, insertion(1, largest)), ReaderOptions{})
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, transcript([]*tuple.Frame{insertion(1, largest)}), transcript(got))

	w, err := NewWriter(io.Discard, b.Schema, WriterOptions{})
	require.NoError(t, err)
	huge := words(1, func(int) string { return string(bytes.Repeat([]byte{'x'}, MaxFrame)) })
	require.ErrorIs(t, w.WriteFrame(insertion(1, huge)), stream.ErrRowTooLarge)
}

// A dictionary that outgrows its limits gives way to plain strings within the subscription; nobody sees it.
func TestDictionaryOverflow(t *testing.T) {
	var frames []*tuple.Frame
	id := uint64(1)
	for k := range 5 {
		b := words(20_000, func(i int) string { return fmt.Sprint("u", k*20_000+i) })
		frames = append(frames, insertion(id, b))
		id += uint64(b.Rows())
	}
	data := send(t, frames[0].Batch.Schema, WriterOptions{}, frames...)
	got, err := receive(t, data, ReaderOptions{})
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, transcript(frames), transcript(got))
	last := got[len(got)-1].Batch.Cols[0].Dict
	require.False(t, last.Distinct(), "the column still has a dictionary")
	require.True(t, got[0].Batch.Cols[0].Dict.Distinct())
}

// While a dictionary grows, the receiver's codes keep their meaning: all snapshots are of one lineage.
func TestLineageIsKept(t *testing.T) {
	a := words(100, func(i int) string { return fmt.Sprint(i % 10) })
	b := words(100, func(i int) string { return fmt.Sprint(i % 20) })
	got, err := receive(t, send(t, a.Schema, WriterOptions{}, insertion(1, a), insertion(101, b)), ReaderOptions{})
	require.ErrorIs(t, err, io.EOF)
	first, second := got[0].Batch.Cols[0].Dict, got[1].Batch.Cols[0].Dict
	require.Same(t, first.Lineage(), second.Lineage())
	require.Equal(t, 10, first.Len())
	require.Equal(t, 20, second.Len())
}

// Values of rows that are not sent never leave: the dictionary on the wire holds only what selected rows use.
func TestUnselectedValuesStayHome(t *testing.T) {
	b := words(100, func(i int) string { return fmt.Sprintf("secret-%d", i) })
	b.Sel = []uint32{7}
	data := send(t, b.Schema, WriterOptions{}, insertion(1, b))
	require.Contains(t, string(data), "secret-7")
	require.NotContains(t, string(data), "secret-8")
}

func TestBudget(t *testing.T) {
	b := words(50, func(int) string { return "x" })
	data := send(t, b.Schema, WriterOptions{}, insertion(1, b), &tuple.Frame{Kind: tuple.Boundary, Time: 50}, insertion(51, b.Slice(49, 50)))
	denied := errors.New("organisation b has used its rows")
	var seen []Demand
	frames, err := receive(t, data, ReaderOptions{Budget: func(d Demand) error {
		seen = append(seen, d)
		if len(seen) == 3 {
			return denied
		}
		return nil
	}})
	require.Len(t, frames, 2)
	requireCode(t, err, OverQuota)
	require.ErrorIs(t, err, denied)
	require.Equal(t, []int{50, 0, 1}, []int{seen[0].Rows, seen[1].Rows, seen[2].Rows})
	require.Equal(t, frameSizes(data)[0], headerSize+seen[0].Bytes)
}

// Credit is asked for rows only, and what it refuses is not sent.
func TestCredit(t *testing.T) {
	b := words(10, func(int) string { return "x" })
	var buf bytes.Buffer
	asked := 0
	w, err := NewWriter(&buf, b.Schema, WriterOptions{Credit: func(n int) error {
		if asked += n; asked > 2000 {
			return io.ErrClosedPipe
		}
		return nil
	}})
	require.NoError(t, err)
	require.NoError(t, w.WriteFrame(&tuple.Frame{Kind: tuple.Boundary, Time: 0}))
	require.Zero(t, asked)
	require.NoError(t, w.WriteFrame(insertion(1, b)))
	require.Equal(t, uint64(asked), w.Stats().DataBytes)
	sent := buf.Len()
	for err == nil {
		sent = buf.Len()
		err = w.WriteFrame(insertion(w.Stats().Rows+1, b))
	}
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Equal(t, sent, buf.Len())
	require.ErrorIs(t, w.WriteFrame(&tuple.Frame{Kind: tuple.Boundary, Time: 9}), io.ErrClosedPipe, "errors are final")
}

// The writer refuses what a receiver would.
func TestWriterRefuses(t *testing.T) {
	b := words(3, func(int) string { return "x" })
	for name, f := range map[string]*tuple.Frame{
		"ids from zero":        {Kind: tuple.Insertion, FirstID: 0, LastID: 2, Batch: b},
		"too few ids":          {Kind: tuple.Insertion, FirstID: 1, LastID: 2, Batch: b},
		"listed ids that fall": {Kind: tuple.Insertion, FirstID: 1, LastID: 5, IDs: []uint64{1, 3, 2}, Batch: b},
		"listed id beyond":     {Kind: tuple.Insertion, FirstID: 1, LastID: 5, IDs: []uint64{1, 3, 6}, Batch: b},
		"no such kind":         {Kind: 99},
		"another schema":       insertion(1, tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "x", Type: tuple.Of(tuple.Bool)})).Take()),
	} {
		w, err := NewWriter(io.Discard, b.Schema, WriterOptions{})
		require.NoError(t, err)
		require.Error(t, w.WriteFrame(f), name)
	}
}

// TestLongReasonIsRead shows that a GAP which has come a long way, each node of it with a word, is read all the same.
func TestLongReasonIsRead(t *testing.T) {
	gap := &tuple.Frame{Kind: tuple.Gap, Time: 0, To: 1, Generation: 1, Reason: strings.Repeat("übers Land: ", 1000)}
	got, err := receive(t, send(t, tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}), WriterOptions{}, gap), ReaderOptions{})
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, got, 1)
	require.True(t, utf8.ValidString(got[0].Reason))
	require.Greater(t, len(got[0].Reason), maxReason-utf8.UTFMax)
	require.True(t, strings.HasPrefix(gap.Reason, got[0].Reason))
}
