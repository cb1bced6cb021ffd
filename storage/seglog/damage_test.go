package seglog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/storage/seglog"
)

// image is a log directory as bytes.
type image map[string][]byte

func takeImage(t testing.TB, dir string) image {
	t.Helper()
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	img := image{}
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(dir, n.Name()))
		require.NoError(t, err)
		img[n.Name()] = b
	}
	return img
}

func (img image) write(t testing.TB, dir string) {
	t.Helper()
	for name, b := range img {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
}

// segments returns the names of the segment files, oldest first.
func (img image) segments() []string {
	var out []string
	for name := range img {
		if strings.HasSuffix(name, ".seg") {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

const imageRecords = 240

// closedImage and crashedImage hold keys 1..imageRecords in several segments: after Close, and as a crash leaves it, with
// the reserved rest of the last segment.
func closedImage(t testing.TB) image { return makeImage(t, true) }

func crashedImage(t testing.TB) image { return makeImage(t, false) }

func makeImage(t testing.TB, closed bool) image {
	t.Helper()
	dir := t.TempDir()
	l, _ := open(t, dir, seglog.Options{SegmentBytes: small})
	fill(t, l, 1, imageRecords, 3, 777)
	if closed {
		require.NoError(t, l.Close())
	}
	return takeImage(t, dir)
}

// account opens an image and checks what holds for every damage: keys that are not read are inside what was reported.
func account(t testing.TB, img image) (keys, lost []uint64, rec seglog.Recovery) {
	t.Helper()
	dir := scratch(t)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	img.write(t, dir)
	l, rec, err := seglog.Open(dir, seglog.Options{SegmentBytes: small})
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	keys, damage := drain(t, l, l.Oldest())
	require.IsIncreasing(t, append([]uint64{0}, keys...))
	lost = missing(span(1, imageRecords), keys)
	require.Len(t, keys, imageRecords-len(lost))
	reported := uint64(0)
	for _, d := range damage {
		reported += d.Records
	}
	for _, k := range lost {
		require.True(t, within(k, damage, rec), "key %d is lost and not reported: %s %v", k, describe(&rec), damage)
	}
	if rec.Cut == nil && len(rec.SetAside) == 0 {
		require.EqualValues(t, len(lost), reported, "%s %v", describe(&rec), damage)
	}
	fill(t, l, imageRecords+1, 5, 5, 100) // the log goes on
	after, _ := drain(t, l, seglog.Position{Generation: l.Identity().Generation, Key: imageRecords + 1})
	require.Equal(t, span(imageRecords+1, imageRecords+5), after)
	return keys, lost, rec
}

func within(k uint64, damage []*seglog.Damage, rec seglog.Recovery) bool {
	for _, d := range damage {
		if k >= d.After.Key && k <= d.Before.Key {
			return true
		}
	}
	return rec.Cut != nil && k > rec.Cut.After.Key || len(rec.SetAside) > 0
}

func TestIntactImages(t *testing.T) {
	for name, img := range map[string]image{"closed": closedImage(t), "crashed": crashedImage(t)} {
		_, lost, rec := account(t, img)
		require.Empty(t, lost, name)
		require.Nil(t, rec.Cut)
		require.Equal(t, seglog.Copied, rec.Origin, "an image is a copy")
	}
}

// Any one byte flipped anywhere: never a wrong payload; of a log that was closed at most the one record is lost.
func TestFlippedByte(t *testing.T) {
	closed, crashed := closedImage(t), crashedImage(t)
	rapid.Check(t, func(r *rapid.T) {
		img, isClosed := crashed, rapid.Bool().Draw(r, "closed")
		if isClosed {
			img = closed
		}
		name := rapid.SampledFrom(append(img.segments(), "IDENTITY")).Draw(r, "file")
		at := rapid.IntRange(0, len(img[name])-1).Draw(r, "at")
		bad := image{}
		for n, b := range img {
			bad[n] = b
		}
		bad[name] = append([]byte(nil), img[name]...)
		bad[name][at] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
		_, lost, rec := account(t, bad)
		if isClosed && len(lost) > 1 {
			r.Fatalf("lost %v: %s", lost, describe(&rec))
		}
	})
}

// Many bytes overwritten, also across records and segments.
func TestOverwrittenStretch(t *testing.T) {
	closed := closedImage(t)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 7))
		bad := image{}
		for n, b := range closed {
			bad[n] = append([]byte(nil), b...)
		}
		for range 1 + rng.IntN(3) {
			seg := closed.segments()[rng.IntN(len(closed.segments()))]
			from := rng.IntN(len(bad[seg]))
			for i := from; i < min(from+rng.IntN(5000), len(bad[seg])); i++ {
				bad[seg][i] = byte(rng.Uint32())
			}
		}
		account(t, bad)
	}
}

// The last 1 to 64 bytes cut: only what they held is lost, and the report says how much.
func TestCutTail(t *testing.T) {
	closed := closedImage(t)
	names := closed.segments()
	last := names[len(names)-1]
	const mark = 48
	for n := 1; n <= 64; n++ {
		bad := image{}
		for name, b := range closed {
			bad[name] = b
		}
		bad[last] = closed[last][:len(closed[last])-n]
		keys, lost, rec := account(t, bad)
		if n <= mark {
			require.Empty(t, lost, "%d bytes", n)
			continue
		}
		if n <= mark+3 {
			continue // the record's padding
		}
		require.Equal(t, []uint64{imageRecords}, lost, "%d bytes", n)
		require.NotNil(t, rec.Cut)
		require.EqualValues(t, imageRecords-1, rec.Cut.After.Key)
		require.Positive(t, rec.Cut.Bytes)
		require.Len(t, keys, imageRecords-1)
	}
}

// The end of the durable part zeroed or torn, as an interrupted write leaves it: a prefix stays.
func TestTornWrite(t *testing.T) {
	img := crashedImage(t)
	names := img.segments()
	last := names[len(names)-1]
	end := len(strings.TrimRight(string(img[last]), "\x00"))
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		bad := image{}
		for name, b := range img {
			bad[name] = b
		}
		torn := append([]byte(nil), img[last]...)
		from := end - rng.IntN(3*820) // inside the last group of three
		for i := from; i < min(from+512, end); i++ {
			torn[i] = 0
		}
		bad[last] = torn
		keys, lost, rec := account(t, bad)
		require.Equal(t, span(1, uint64(len(keys))), keys, "what stays is a prefix")
		require.LessOrEqual(t, len(lost), 3)
		if len(lost) > 0 {
			require.NotNil(t, rec.Cut)
			require.Zero(t, rec.Cut.Acknowledged)
		}
	}
}

// A segment that is gone is reported with its keys; one of another log, and one without anything true in it, are set
// aside and kept.
func TestMissingAndForeignSegments(t *testing.T) {
	img := closedImage(t)
	names := img.segments()
	require.Greater(t, len(names), 3)
	bad := image{}
	for n, b := range img {
		if n != names[1] {
			bad[n] = b
		}
	}
	_, lost, rec := account(t, bad)
	require.Len(t, rec.Damage, 1)
	require.EqualValues(t, len(lost), rec.Damage[0].Records)
	require.Equal(t, lost[0]-1, rec.Damage[0].After.Key)
	require.Equal(t, lost[len(lost)-1], rec.Damage[0].Before.Key)

	foreign := closedImage(t)
	dir := t.TempDir()
	img.write(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, names[1]), foreign[names[1]], 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000999.seg"), []byte("not a segment at all"), 0o600))
	l, rec := open(t, dir, seglog.Options{SegmentBytes: small})
	require.Len(t, rec.SetAside, 2, describe(&rec))
	for _, a := range rec.SetAside {
		require.FileExists(t, a.Path)
	}
	keys, _ := drain(t, l, l.Oldest())
	require.Equal(t, lost, missing(span(1, imageRecords), keys))
}

// Damage, cut and repeated openings without appending give the same log.
func TestRecoveryIsRepeatable(t *testing.T) {
	img := crashedImage(t)
	names := img.segments()
	last := names[len(names)-1]
	img[last] = append([]byte(nil), img[last]...)
	end := len(strings.TrimRight(string(img[last]), "\x00"))
	img[last][end-100] ^= 1
	dir := t.TempDir()
	img.write(t, dir)
	var want string
	for i := range 3 {
		l, rec, err := seglog.Open(dir, seglog.Options{SegmentBytes: small})
		require.NoError(t, err)
		keys, _ := drain(t, l, l.Oldest())
		got := fmt.Sprint(keys, rec.Cut)
		if i == 0 {
			want = got
		}
		require.Equal(t, want, got)
		if i == 2 {
			_, err := l.NewGeneration(context.Background())
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
	}
}
