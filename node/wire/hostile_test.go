package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func requireCode(t testing.TB, err error, want Code) {
	t.Helper()
	var pe *ProtocolError
	require.ErrorAs(t, err, &pe)
	require.Equal(t, want, pe.Code, "%v", err)
	require.NotEmpty(t, pe.Reason)
}

// frame makes an envelope with correct header around a payload.
func frame(kind uint8, payload []byte) []byte {
	b := append(make([]byte, headerSize), payload...)
	seal(b, Version, kind)
	return b
}

// edit returns a copy of a frame, changed and sealed again: what a hostile peer can make.
func edit(data []byte, change func(b []byte)) []byte {
	b := bytes.Clone(data)
	change(b)
	seal(b, b[4], b[5])
	return b
}

// find returns the first position of some bytes in a frame.
func find(t *testing.T, b []byte, word []byte) int {
	t.Helper()
	require.True(t, bytes.Contains(b, word), "%x", word)
	return bytes.Index(b, word)
}

func word64(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

// valid returns an insertion of 1,000 rows, its schema and dictionary in it.
func valid(t *testing.T) []byte {
	b := words(1000, func(i int) string { return []string{"north", "south", "western"}[i%3] })
	return send(t, b.Schema, WriterOptions{}, insertion(1, b))
}

func head(kind tuple.FrameKind, build func(e *tuple.Encoder)) []byte {
	var e tuple.Encoder
	build(&e)
	return frame(uint8(kind), e.B)
}

// bomb is a frame whose compressed buffer claims, or gives, far more than it may.
func bomb(t *testing.T, claim int64) []byte {
	b := words(60_000, func(int) string { return "x" })
	data := send(t, b.Schema, WriterOptions{CutBytes: 1}, insertion(1, b.Slice(0, 1)))
	zipped := send(t, b.Schema, WriterOptions{Codec: stream.Zstd}, insertion(1, b.Slice(0, 4000)))
	require.NotEqual(t, data, zipped)
	at := find(t, zipped, append(word64(8*4000), 0x28, 0xB5, 0x2F, 0xFD))
	return edit(zipped, func(b []byte) { copy(b[at:], word64(claim)) })
}

// Every malformed thing is a ProtocolError of the right code, without panic and in bounded memory.
func TestHostileFrames(t *testing.T) {
	good := valid(t)
	two := func(f, g *tuple.Frame) []byte {
		return send(t, words(1, func(int) string { return "" }).Schema, WriterOptions{}, f, g)
	}
	one := words(1, func(int) string { return "x" })
	later := func(at tuple.Time) *tuple.Batch { b := one.Clone(); b.Time[0] = at; return b }
	run := tuple.Run{Producer: "p", Incarnation: 1, N: 1}

	cases := map[string]struct {
		data []byte
		want Code
	}{
		"garbage":            {bytes.Repeat([]byte{0xA7}, 4096), BadVersion},
		"text":               {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), BadVersion},
		"zeros":              {make([]byte, 4096), BadVersion},
		"truncated header":   {good[:7], Truncated},
		"truncated payload":  {good[:len(good)-1], Truncated},
		"header only":        {good[:headerSize], Truncated},
		"oversized":          {binary.LittleEndian.AppendUint64(word64(int64(MaxFrame+1) | int64(Version)<<32 | 1<<40)[:8], 0), BadLength},
		"oversized boundary": {frame(uint8(tuple.Boundary), make([]byte, maxPlainFrame+1)), BadLength},
		"unknown version":    {edit(good, func(b []byte) { b[4] = 9 }), BadVersion},
		"unknown kind":       {frame(200, nil), BadKind},
		"control kind":       {frame(uint8(KindHello), nil), BadKind},
		"flags":              {append([]byte{0, 0, 0, 0, Version, 3, 1, 0}, make([]byte, 4)...), BadVersion},
		"wrong checksum":     {append(bytes.Clone(good[:len(good)-8]), 1, 2, 3, 4, 5, 6, 7, 8), BadChecksum},
		"empty insertion":    {frame(1, nil), Malformed},
		"rows, no ipc":       {head(tuple.Insertion, func(e *tuple.Encoder) { e.Uint(1); e.Uint(1); e.Uint(0); e.Uint(1); e.Bool(false) }), Malformed},
		"rows beyond limit":  {head(tuple.Insertion, func(e *tuple.Encoder) { e.Uint(1); e.Uint(1); e.Uint(1 << 40); e.Uint(1<<40 + 1); e.Bool(false) }), OverLimit},
		"id zero":            {head(tuple.Insertion, func(e *tuple.Encoder) { e.Uint(1); e.Uint(0); e.Uint(0); e.Uint(1); e.Bool(false) }), BadIDs},
		"ids wrap around":    {head(tuple.Insertion, func(e *tuple.Encoder) { e.Uint(1); e.Uint(5); e.Uint(1<<64 - 1); e.Uint(1); e.Bool(false) }), BadIDs},
		"listed ids beyond": {head(tuple.Insertion, func(e *tuple.Encoder) {
			e.Uint(1)
			e.Uint(5)
			e.Uint(1)
			e.Uint(2)
			e.Bool(true)
			e.Uint(1)
			e.Uint(1)
		}), BadIDs},
		"ids announced, not there": {head(tuple.Insertion, func(e *tuple.Encoder) { e.Uint(1); e.Uint(5); e.Uint(1e9); e.Uint(60000); e.Bool(true) }), Malformed},
		"half a checksum":          {head(tuple.Boundary, func(e *tuple.Encoder) { e.Time(5); e.Uint(0); e.Uint(0); e.B = append(e.B, 0x80) }), Malformed},
		"a checksum of 0":          {head(tuple.Boundary, func(e *tuple.Encoder) { e.Time(5); e.Uint(0); e.Uint(0); e.Uint(0) }), Malformed},
		"bytes after a checksum":   {head(tuple.Boundary, func(e *tuple.Encoder) { e.Time(5); e.Uint(0); e.Uint(0); e.Uint(7); e.Uint(0) }), Malformed},
		"negative age":             {head(tuple.Boundary, func(e *tuple.Encoder) { e.Time(5); e.Uint(1 << 63); e.Int(0) }), Malformed},
		"less than nothing normal": {head(tuple.Boundary, func(e *tuple.Encoder) { e.Time(5); e.Int(7); e.Int(-1) }), Malformed},
		"an eternity is normal":    {head(tuple.Boundary, func(e *tuple.Encoder) { e.Time(5); e.Int(7); e.Int(1<<60 + 1) }), Malformed},
		"run without producer":     {head(tuple.Undo, func(e *tuple.Encoder) { e.String(""); e.Uint(1); e.Uint(1) }), Malformed},
		"run zero":                 {head(tuple.Undo, func(e *tuple.Encoder) { e.String("p"); e.Uint(1); e.Uint(0) }), Malformed},
		"endless producer":         {head(tuple.Undo, func(e *tuple.Encoder) { e.Bytes(make([]byte, 4096)); e.Uint(1); e.Uint(1) }), Malformed},
		"a million missing":        {head(tuple.TentativeBoundary, func(e *tuple.Encoder) { e.Time(1); e.Uint(0); e.Uint(0); appendRun(e, run); e.Uint(1e6) }), Malformed},
		"gap backwards":            {head(tuple.Gap, func(e *tuple.Encoder) { e.Time(5); e.Time(4); e.Uint(1); e.Uint(0); e.String("") }), Malformed},
		"varint without end":       {frame(3, bytes.Repeat([]byte{0x80}, 30)), Malformed},

		"ids jump":                  {two(insertion(1, one), insertion(3, one)), BadIDs},
		"ids repeat":                {two(insertion(5, one), insertion(5, one)), BadIDs},
		"generation without gap":    {two(insertion(1, one), &tuple.Frame{Kind: tuple.Insertion, Generation: 2, FirstID: 2, LastID: 2, Batch: one}), BadIDs},
		"boundary falls":            {two(&tuple.Frame{Kind: tuple.Boundary, Time: 9}, &tuple.Frame{Kind: tuple.Boundary, Time: 8}), BelowBoundary},
		"row below boundary":        {two(&tuple.Frame{Kind: tuple.Boundary, Time: 9}, insertion(1, later(8))), BelowBoundary},
		"row after end of stream":   {two(&tuple.Frame{Kind: tuple.Boundary, Time: tuple.MaxTime}, insertion(1, later(8))), BelowBoundary},
		"tentative boundary falls":  {two(&tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: 9}, &tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: 8}), BelowBoundary},
		"tentative row below":       {two(&tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: 9}, &tuple.Frame{Kind: tuple.Tentative, Run: run, FirstID: 1, LastID: 1, Batch: later(8)}), BelowBoundary},
		"tentative numbers jump":    {two(&tuple.Frame{Kind: tuple.Tentative, Run: run, FirstID: 1, LastID: 1, Batch: one}, &tuple.Frame{Kind: tuple.Tentative, Run: run, FirstID: 3, LastID: 3, Batch: one}), BadIDs},
		"same generation backwards": {append(two(insertion(1, one), insertion(2, one)), two(&tuple.Frame{Kind: tuple.Gap, Time: 0, To: 1, Generation: 1}, insertion(2, one))...), BadIDs},

		"another schema mid stream": {append(bytes.Clone(good), edit(otherSchema(t), func(b []byte) {})...), BadSchema},
		"rows not as announced":     {edit(good, func(b []byte) { copy(b[find(t, b, []byte{0xE8, 0x07}):], []byte{0xE7, 0x07}); b[headerSize+2] = 0xE6 }), BadRows},
		"not arrow":                 {edit(good, func(b []byte) { b[24] = 0 }), Malformed},
		"metadata length":           {edit(good, func(b []byte) { binary.LittleEndian.PutUint32(b[28:], 1<<31) }), Malformed},
		"negative length":           {patchBuffer(t, good, -8), Malformed},
		"buffer outside the body":   {patchBuffer(t, good, 1<<40), Malformed},
		"code outside dictionary":   {edit(good, func(b []byte) { b[len(b)-8000-2000+1] = 0xFF }), BadDictionary},
		"bomb by claim":             {bomb(t, 1<<40), OverLimit},
		"bomb just below the limit": {bomb(t, MaxBytesDecoded-1), Malformed},
		"negative size":             {bomb(t, -7), OverLimit},
		"zstd of zeros":             {zeroBomb(t), Malformed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := receive(t, c.data, ReaderOptions{})
			runtime.ReadMemStats(&after)
			requireCode(t, err, c.want)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "memory taken")
		})
	}
}

// MaxBytesDecoded is the decompression limit, named for the cases above.
const MaxBytesDecoded = stream.MaxBytes

func otherSchema(t *testing.T) []byte {
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "name", Type: tuple.Of(tuple.String)}))
	b.AppendBin(0, []byte("x"))
	b.EndRow(5000)
	return send(t, b.Schema(), WriterOptions{}, insertion(1001, b.Take()))
}

// patchBuffer gives the buffer of the stimes another length.
func patchBuffer(t *testing.T, good []byte, length int64) []byte {
	at := find(t, good, append(word64(0), append(word64(8000), word64(8000)...)...))
	return edit(good, func(b []byte) { copy(b[at+8:], word64(length)) })
}

// zeroBomb claims what is allowed and holds zeros without end.
func zeroBomb(t *testing.T) []byte {
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	zipped := enc.EncodeAll(make([]byte, 64<<20), nil)
	good := bomb(t, 8*4000)
	at := bytes.Index(good, append(word64(8*4000), 0x28, 0xB5, 0x2F, 0xFD))
	return edit(good, func(b []byte) {
		n := copy(b[at+8:], zipped[:min(len(zipped), len(b)-at-8)])
		require.Positive(t, n)
	})
}

// Any single changed byte is noticed; none makes the reader panic or hang.
func TestEveryFlippedByte(t *testing.T) {
	b := words(20, func(i int) string { return fmt.Sprint(i % 4) })
	good := send(t, b.Schema, WriterOptions{Codec: stream.Zstd}, insertion(1, b))
	want, err := receive(t, good, ReaderOptions{})
	require.ErrorIs(t, err, io.EOF)
	for i := range good {
		for _, bit := range []byte{1, 0x80} {
			plain := bytes.Clone(good)
			plain[i] ^= bit
			_, err := receive(t, plain, ReaderOptions{})
			var pe *ProtocolError
			require.ErrorAs(t, err, &pe, "byte %d", i)
			if i < headerSize {
				continue
			}
			// Sealed again, the change may be harmless (padding, a value), but never more than that.
			sealed := edit(good, func(b []byte) { b[i] ^= bit })
			got, err := receive(t, sealed, ReaderOptions{})
			if !errors.As(err, &pe) {
				require.ErrorIs(t, err, io.EOF)
				require.Len(t, got, len(want))
				require.NoError(t, got[0].Batch.Check())
			}
		}
	}
}

// The connection's own errors are not blamed on the peer.
func TestConnectionErrorsAreNotTheirs(t *testing.T) {
	broken := errors.New("connection reset")
	r, err := NewReader(io.MultiReader(bytes.NewReader(valid(t)[:20]), failing{broken}), ReaderOptions{})
	require.NoError(t, err)
	_, err = r.ReadFrame()
	require.ErrorIs(t, err, broken)
	var pe *ProtocolError
	require.False(t, errors.As(err, &pe))
	_, again := r.ReadFrame()
	require.Equal(t, err, again)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
