package seglog

import (
	"bytes"
	"encoding/binary"
	"flag"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

const goldenPath = "testdata/segment-v1.seg"

func goldenHeader() header {
	h := header{Generation: 3, FirstSeq: 41, StartKey: 1000, Prev: tail{FirstSeq: 7, End: 65_000, Key: 1000, MaxTime: 5}}
	copy(h.Log[:], "0123456789abcdef")
	return h
}

// goldenSegment is what docs/formats/segment.md describes, with every kind of record.
func goldenSegment() []byte {
	h := goldenHeader()
	b := h.encode()
	s := seed(h.Log)
	b = appendRecord(b, s, frame{seq: 41, key: 1001, time: 1_700_000_000_000_000, durable: 40}, []byte("first"))
	b = appendRecord(b, s, frame{seq: 42, key: 1001, time: tuple.MinTime, durable: 40}, nil)
	b = appendRecord(b, s, frame{seq: 43, key: 1 << 63, time: -1, durable: 42}, bytes.Repeat([]byte{0xAB}, 300))
	return appendRecord(b, s, frame{mark: true, seq: 43, key: 1 << 63, durable: 43}, nil)
}

// The bytes on disk do not change within a format version.
func TestGoldenSegment(t *testing.T) {
	got := goldenSegment()
	if *rewrite {
		require.NoError(t, os.WriteFile(goldenPath, got, 0o600))
	}
	want, err := os.ReadFile(goldenPath)
	require.NoError(t, err)
	require.Equal(t, want, got)
	h, err := decodeHeader(got)
	require.NoError(t, err)
	require.Equal(t, goldenHeader(), h)
}

// A log that an earlier build of this format version wrote opens, without its identity file too.
func TestOpenGolden(t *testing.T) {
	b, err := os.ReadFile(goldenPath)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(41)), b, 0o600))
	l, rec, err := Open(dir, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	require.Equal(t, Lost, rec.Origin)
	require.Nil(t, rec.Cut)
	require.Equal(t, Position{3, 1 << 63}, rec.Last)
	require.Equal(t, Position{3, 1001}, l.Oldest())
	r, err := l.Reader(l.Oldest())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var got []Record
	for {
		rec, ok, err := r.TryNext()
		require.NoError(t, err)
		if !ok {
			break
		}
		rec.Payload = bytes.Clone(rec.Payload)
		got = append(got, rec)
	}
	require.Len(t, got, 3)
	require.Equal(t, Record{Seq: 41, Generation: 3, Key: 1001, Time: 1_700_000_000_000_000, Payload: []byte("first")}, got[0])
	require.Equal(t, tuple.MinTime, got[1].Time)
	require.Len(t, got[2].Payload, 300)
}

// A segment of a newer build is refused with what to do, and not touched.
func TestNewerFormat(t *testing.T) {
	b := goldenSegment()
	binary.LittleEndian.PutUint16(b[8:], formatVersion+1)
	binary.LittleEndian.PutUint32(b[headerBytes-4:], crc32.Checksum(b[:headerBytes-4], disk.Castagnoli()))
	dir := t.TempDir()
	path := filepath.Join(dir, segmentName(41))
	require.NoError(t, os.WriteFile(path, b, 0o600))
	_, _, err := Open(dir, Options{})
	require.ErrorContains(t, err, "format version 2, this build reads up to 1")
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b, left)
}

// memory is a file of bytes, for reading.
type memory struct{ *bytes.Reader }

func (memory) WriteAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }
func (memory) Sync() error                        { return nil }
func (memory) Allocate(int64) error               { return nil }
func (memory) Truncate(int64) error               { return nil }
func (m memory) Size() (int64, error)             { return m.Reader.Size(), nil }
func (memory) Close() error                       { return nil }

// FuzzScan: whatever the bytes are, a scan ends, holes and records do not overlap, and seqs rise.
func FuzzScan(f *testing.F) {
	golden := goldenSegment()
	f.Add(golden)
	f.Add(golden[:len(golden)-13])
	f.Add(append(bytes.Clone(golden), make([]byte, 5000)...))
	for _, at := range []int{130, 140, 180, 200, 260} {
		b := bytes.Clone(golden)
		b[at] ^= 0x40
		f.Add(b)
	}
	h := goldenHeader()
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := decodeHeader(b); err == nil && !bytes.Equal(b[:headerBytes], golden[:headerBytes]) {
			require.Equal(t, crc32.Checksum(b[:headerBytes-4], disk.Castagnoli()), binary.LittleEndian.Uint32(b[headerBytes-4:]))
		}
		s := &segment{generation: h.Generation, firstSeq: h.FirstSeq, startKey: h.StartKey}
		v, err := scanSegment(s, memory{bytes.NewReader(b)}, seed(h.Log), extent{size: int64(len(b)), lastSeq: 1 << 62})
		require.NoError(t, err)
		require.GreaterOrEqual(t, s.lastSeq+1, s.firstSeq)
		require.LessOrEqual(t, v.good, s.records())
		at := int64(headerBytes)
		for _, hole := range v.holes {
			require.GreaterOrEqual(t, hole.off, at)
			require.Positive(t, hole.bytes)
			at = hole.off + hole.bytes
		}
		require.LessOrEqual(t, v.tear(), len(v.holes))
	})
}
