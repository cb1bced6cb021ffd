package tuple

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A dictionary agrees with a map, whatever is interned; snapshots never change and share their lineage.
func TestDictAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 4)).Draw(t, "values")
		b := NewDictBuilder()
		model := map[string]uint32{}
		var snapshots []*Dict
		for _, v := range values {
			want, known := model[string(v)]
			code, found := b.Find(v)
			require.Equal(t, known, found)
			if known {
				require.Equal(t, want, code)
			} else {
				want = uint32(len(model))
				model[string(v)] = want
			}
			require.Equal(t, want, b.Intern(v))
			snapshots = append(snapshots, b.Dict())
		}
		for i, d := range snapshots {
			require.Same(t, snapshots[0].Lineage(), d.Lineage())
			require.True(t, d.Distinct())
			code := model[string(values[i])]
			require.Less(t, int(code), d.Len())
			require.Equal(t, string(values[i]), string(d.At(code)))
		}
		require.Equal(t, len(model), b.Len())
	})
}

func TestDictGrows(t *testing.T) {
	b := NewDictBuilder()
	early := b.Dict()
	for i := range 100_000 {
		require.Equal(t, uint32(i), b.Intern(fmt.Appendf(nil, "value %d", i)))
	}
	require.True(t, b.Full())
	require.Zero(t, early.Len())
	d := b.Dict()
	require.Same(t, d, b.Dict(), "an unchanged snapshot costs nothing")
	require.Equal(t, b.Size(), d.Size())
	for _, i := range []int{0, 1, 63, 64, 65535, 99_999} {
		require.Equal(t, fmt.Sprintf("value %d", i), string(d.At(uint32(i))))
	}
	before := d.Lineage()
	b.Reset()
	require.NotSame(t, before, b.Dict().Lineage())
	require.Equal(t, "value 7", string(d.At(7)), "snapshots survive a reset")
	require.False(t, b.Full())
}

func TestDictValuesAreCopied(t *testing.T) {
	b := NewDictBuilder()
	v := []byte("abc")
	b.Intern(v)
	v[0] = 'x'
	require.Equal(t, "abc", string(b.At(0)))
	require.Equal(t, 3, cap(b.Dict().At(0)), "appending to a value must not reach its neighbour")
}

func TestHashBytes(t *testing.T) {
	// Pinned: sampling and partitions depend on it, on every machine and in every version.
	for v, want := range map[string]uint64{"": 0, "a": 0xdd4ee5af5d1a4132, "10.0.0.1": 0xae2e4090d4e4d179, "a longer value": 0x17932f7b62a29cc8} {
		require.Equal(t, want, HashBytes([]byte(v)), "%q", v)
	}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[uint64]string{}
	for range 20_000 {
		v := make([]byte, r.IntN(24))
		for i := range v {
			v[i] = byte(r.IntN(4))
		}
		h := HashBytes(v)
		require.Equal(t, h, HashBytes(bytes.Clone(v)))
		if other, dup := seen[h]; dup {
			require.Equal(t, other, string(v), "collision")
		}
		seen[h] = string(v)
	}
	require.NotEqual(t, HashBytes([]byte{0}), HashBytes([]byte{0, 0}), "length counts")
}

func BenchmarkIntern(b *testing.B) {
	d := NewDictBuilder()
	var values [][]byte
	for i := range 10_000 {
		values = append(values, fmt.Appendf(nil, "10.0.%d.%d", i/256, i%256))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Intern(values[i%len(values)])
	}
}
