package wire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"fednode/query/tuple"

	"github.com/stretchr/testify/require"
)

// goldenFrames returns one frame of each kind.
func goldenFrames() (*tuple.Schema, []*tuple.Frame) {
	b := tuple.NewBatchBuilder(tuple.MustSchema(
		tuple.Field{Name: "src", Type: tuple.Of(tuple.IP), Form: tuple.PrefixPseudonym, Key: "2026"},
		tuple.Field{Name: "port", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "tags", Type: tuple.ListOf(tuple.Of(tuple.String))}))
	for i := range 3 {
		b.AppendBin(0, []byte{10: 0xFF, 11: 0xFF, 12: 10, 15: byte(i / 2)})
		b.AppendInt(1, int64(80+i))
		b.AppendElemBin(2, []byte("t"))
		b.EndList(2)
		b.EndRow(tuple.Time(1_700_000_000_000_000 + int64(i)))
	}
	batch := b.Take()
	at := tuple.Time(1_700_000_000_000_000)
	run := tuple.Run{Producer: "12D3KooWproducer", Incarnation: 3, N: 2}
	missing := []tuple.Missing{{Stream: "b/conns", Since: at}}
	return b.Schema(), []*tuple.Frame{
		{Kind: tuple.Insertion, Generation: 1, FirstID: 41, LastID: 44, IDs: []uint64{41, 42, 44}, Batch: batch},
		{Kind: tuple.Boundary, Time: at, Age: 1500, Normal: 700},
		{Kind: tuple.Boundary, Time: at, Age: 1500, Normal: 700, Sum: 0xfeed_0123_4567_89ab},
		{Kind: tuple.Tentative, Run: run, FirstID: 1, LastID: 3, Batch: batch, Missing: missing},
		{Kind: tuple.TentativeBoundary, Time: at, Age: 1500, Normal: 700, Run: run, Missing: missing},
		{Kind: tuple.Undo, Run: run},
		{Kind: tuple.RecDone, Run: run},
		{Kind: tuple.Gap, Time: at, To: at + 1000, Generation: 2, FirstID: 12345, Reason: "log damaged"},
	}
}

// The bytes of each kind of frame are pinned: a change of them is a change of the protocol.
func TestGolden(t *testing.T) {
	s, frames := goldenFrames()
	var out strings.Builder
	data := send(t, s, WriterOptions{}, frames...)
	for i, n := range frameSizes(data) {
		fmt.Fprintf(&out, "%v %s\n", frames[i].Kind, hex.EncodeToString(data[:n]))
		data = data[n:]
	}
	for _, m := range samples() {
		fmt.Fprintf(&out, "%v %s\n", m.Kind(), hex.EncodeToString(controlBytes(t, m)))
	}
	const path = "testdata/frames.txt"
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String(), "run with -rewrite if the protocol is meant to change")
}

// What was pinned can still be read.
func TestGoldenIsRead(t *testing.T) {
	want, err := os.ReadFile("testdata/frames.txt")
	require.NoError(t, err)
	var data, control bytes.Buffer
	for line := range strings.Lines(string(want)) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		raw, err := hex.DecodeString(text)
		require.NoError(t, err)
		if kind == strings.ToUpper(kind) {
			data.Write(raw)
		} else {
			control.Write(raw)
		}
	}
	_, frames := goldenFrames()
	got, err := receive(t, data.Bytes(), ReaderOptions{})
	require.EqualError(t, err, "EOF")
	require.Equal(t, transcript(frames), transcript(got))
	messages, err := readControl(t, control.Bytes())
	require.EqualError(t, err, "EOF")
	require.Equal(t, samples(), messages)
}
