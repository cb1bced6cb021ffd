package storage

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

const goldenPoint = "testdata/recovery-point-v1.hex"

func smallPoint() *RecoveryPoint {
	return &RecoveryPoint{Fragment: "watch/1", Epoch: 7, Boundary: 1_700_000_000_000_000,
		Operators: []OperatorState{{Name: "active", Version: 1, Snapshot: []byte{1, 2, 3}}},
		Inputs:    []InputPosition{{Stream: "north/conns", Position: tuple.Position{Generation: 2, Time: 1_700_000_000_000_000, ID: 99}}},
		Outputs: []OutputState{{Stream: "watch/suspects", Generation: 1, NextID: 12, Boundary: 1_699_999_999_999_999,
			Unacked: []Unacked{{FirstID: 9, LastID: 10, Frame: []byte("frame")},
				{FirstID: 11, LastID: 11, Log: LogRef{Log: "spill", Generation: 1, Key: 11}}}}}}
}

// The encoding does not change within a format version.
func TestGoldenPoint(t *testing.T) {
	var e tuple.Encoder
	encodePoint(&e, smallPoint())
	got := hex.EncodeToString(e.B) + "\n"
	if *rewrite {
		require.NoError(t, os.WriteFile(goldenPoint, []byte(got), 0o600))
	}
	want, err := os.ReadFile(goldenPoint)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
	p, err := decodePoint(e.B)
	require.NoError(t, err)
	require.Equal(t, smallPoint(), p)
}

// A manifest or a point of a newer build is told from damage, so that it is not passed over in silence.
func TestNewerPoint(t *testing.T) {
	var e tuple.Encoder
	e.Uint(pointVersion + 1)
	_, err := decodeManifest(seal(e.B))
	require.ErrorContains(t, err, "format version 2; this build reads 1")
	require.NotErrorIs(t, err, ErrDamaged)
}

// FuzzDecodePoint: any bytes give a point or an error, and a point encodes to something that decodes to the same.
func FuzzDecodePoint(f *testing.F) {
	var e tuple.Encoder
	encodePoint(&e, smallPoint())
	f.Add(e.B)
	f.Add(e.B[:len(e.B)-1])
	f.Add([]byte{1, 0, 0, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePoint(b)
		if err != nil {
			require.ErrorIs(t, err, tuple.ErrCorrupt)
			return
		}
		var again tuple.Encoder
		encodePoint(&again, p)
		q, err := decodePoint(again.B)
		require.NoError(t, err)
		require.Equal(t, p, q)
	})
}

// FuzzDecodeStored: whatever bytes lie in the chunks, decoding them ends within its memory limit.
func FuzzDecodeStored(f *testing.F) {
	codec, err := newPointCodec()
	require.NoError(f, err)
	m, data, err := codec.encode(smallPoint())
	require.NoError(f, err)
	f.Add(data, m.Raw)
	f.Add(data[:len(data)/2], m.Raw)
	f.Fuzz(func(t *testing.T, data []byte, raw int) {
		p, err := codec.decode("watch/1", manifest{Stored: len(data), Checksum: checksum(data), Raw: raw}, data)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		require.Equal(t, "watch/1", p.Fragment)
	})
}

func TestKeys(t *testing.T) {
	for _, name := range []string{"", "a", "a\x00b", "\x00\x01", "\x00"} {
		key := newKey('x').name(name).number(5).key()
		got, rest, ok := cutName(key, "x")
		require.True(t, ok)
		require.Equal(t, name, got)
		n, left, ok := cutNumber(rest, "")
		require.True(t, ok)
		require.EqualValues(t, 5, n)
		require.Empty(t, left)
	}
	_, _, ok := cutName("xa", "x")
	require.False(t, ok)
	_, _, ok = cutNumber("x1234567", "x")
	require.False(t, ok)
}

// lines collects what a logger is given.
type lines []string

func (l *lines) Errorf(f string, a ...any)   { *l = append(*l, "error "+fmt.Sprintf(f, a...)) }
func (l *lines) Warningf(f string, a ...any) { *l = append(*l, "warning "+fmt.Sprintf(f, a...)) }
func (l *lines) Infof(f string, a ...any)    { *l = append(*l, "info "+fmt.Sprintf(f, a...)) }
func (l *lines) Debugf(f string, a ...any)   { *l = append(*l, "debug "+fmt.Sprintf(f, a...)) }

// The engine's chatter goes to debug, a line at most.
func TestQuietLogger(t *testing.T) {
	var got lines
	q := quietLogger{&got}
	q.Errorf("a%d", 1)
	q.Warningf("b\nrest")
	q.Infof("c")
	q.Debugf("d%s", "")
	require.Equal(t, lines{"error a1", "warning b", "debug c", "debug d"}, got)
}

// The engine's texts are cut, so that no value reaches a log.
func TestErrorTextIsCut(t *testing.T) {
	dump := make([]byte, 5000)
	for i := range dump {
		dump[i] = 'V'
	}
	err := engineError(&os.PathError{Op: string(dump), Path: "p", Err: os.ErrPermission})
	require.Less(t, len(err.Error()), 250)
	require.ErrorIs(t, err, os.ErrPermission)
	require.NotContains(t, cutText("Value is too large\nDump: 565656"), "565656")
}
