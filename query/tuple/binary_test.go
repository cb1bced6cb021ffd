package tuple

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What an Encoder writes a Decoder reads, in order, to the last byte.
func TestEncoderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, i := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "i")
		f := math.Float64frombits(rapid.Uint64().Draw(t, "f"))
		v, s := rapid.SliceOf(rapid.Byte()).Draw(t, "v"), rapid.String().Draw(t, "s")
		ints, words := rapid.SliceOf(rapid.Int64()).Draw(t, "ints"), rapid.SliceOf(rapid.Uint64()).Draw(t, "words")
		codes, flags := rapid.SliceOf(rapid.Uint32()).Draw(t, "codes"), rapid.SliceOf(rapid.Bool()).Draw(t, "flags")
		var e Encoder
		e.Uint(u)
		e.Int(i)
		e.Time(Time(i))
		e.Bool(true)
		e.Float(f)
		e.Bytes(v)
		e.String(s)
		e.Ints(ints)
		e.Uint64s(words)
		e.Uint32s(codes)
		e.Bools(flags)
		e.Bools(nil)
		e.Floats([]float64{f})
		e.Times([]Time{MinTime, MaxTime})

		d := NewDecoder(e.B)
		require.Equal(t, u, d.Uint())
		require.Equal(t, i, d.Int())
		require.Equal(t, Time(i), d.Time())
		require.True(t, d.Bool())
		require.Equal(t, math.Float64bits(f), math.Float64bits(d.Float()))
		require.Equal(t, string(v), string(d.Bytes()))
		require.Equal(t, s, d.String())
		require.True(t, slices.Equal(ints, d.Ints()))
		require.True(t, slices.Equal(words, d.Uint64s()))
		require.True(t, slices.Equal(codes, d.Uint32s()))
		got := d.Bools()
		require.Equal(t, flags == nil, got == nil, "nil and empty stay apart")
		require.True(t, slices.Equal(flags, got))
		require.Nil(t, d.Bools())
		require.Equal(t, math.Float64bits(f), math.Float64bits(d.Floats()[0]))
		require.Equal(t, []Time{MinTime, MaxTime}, d.Times())
		require.NoError(t, d.Close())
	})
}

// A length that the input cannot hold is refused before anything is allocated for it.
func TestDecoderBelievesNoLength(t *testing.T) {
	var e Encoder
	e.Uint(1 << 62)
	for name, read := range map[string]func(d *Decoder){
		"bytes": func(d *Decoder) { d.Bytes() }, "string": func(d *Decoder) { _ = d.String() }, "ints": func(d *Decoder) { d.Ints() },
		"times": func(d *Decoder) { d.Times() }, "words": func(d *Decoder) { d.Uint64s() }, "codes": func(d *Decoder) { d.Uint32s() },
		"floats": func(d *Decoder) { d.Floats() }, "bools": func(d *Decoder) { d.Bools() }, "schema": func(d *Decoder) { d.Schema() },
	} {
		d := NewDecoder(e.B)
		read(d)
		require.ErrorIs(t, d.Err(), ErrCorrupt, name)
	}
}

// The first error stays, and everything after it is zero.
func TestDecoderErrorsStick(t *testing.T) {
	d := NewDecoder([]byte{7, 2, 1})
	require.Equal(t, uint64(7), d.Uint())
	require.False(t, d.Bool())
	first := d.Err()
	require.ErrorContains(t, first, "boolean 2")
	require.Zero(t, d.Uint())
	require.Empty(t, d.Bytes())
	require.Nil(t, d.Ints())
	require.Equal(t, first, d.Err())
	require.Equal(t, first, d.Close())
	require.ErrorContains(t, NewDecoder([]byte{1}).Close(), "1 bytes left over")
}

// Any bytes, read in any way, give values or an error.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, data, plan []byte) {
		d := NewDecoder(data)
		for _, step := range plan {
			before := d.Remaining()
			readOne(d, step%13)
			if d.Remaining() > before || d.Remaining() < 0 {
				t.Fatalf("%d bytes left after %d", d.Remaining(), before)
			}
		}
		if err := d.Close(); err == nil && d.Remaining() != 0 {
			t.Fatal("bytes left over")
		}
	})
}

func readOne(d *Decoder, step byte) {
	switch step {
	case 0:
		d.Uint()
	case 1:
		d.Int()
	case 2:
		d.Bool()
	case 3:
		d.Float()
	case 4:
		d.Bytes()
	case 5:
		_ = d.String()
	case 6:
		d.Ints()
	case 7:
		d.Times()
	case 8:
		d.Uint64s()
	case 9:
		d.Uint32s()
	case 10:
		d.Floats()
	case 11:
		d.Bools()
	case 12:
		d.Schema()
	}
}
