package tuple_test

import (
	"bytes"
	"errors"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"

	"github.com/stretchr/testify/require"
)

func block(b *tuple.Batch) []byte {
	var e tuple.Encoder
	e.Schema(b.Schema)
	e.Batch(b)
	return e.B
}

func unblock(data []byte) (*tuple.Batch, error) {
	d := tuple.NewDecoder(data)
	s := d.Schema()
	if s == nil {
		return nil, d.Err()
	}
	b := d.Batch(s)
	return b, d.Close()
}

// A block gives back the schema and the rows.
func TestBlockRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		b := tupletest.Batches(r, s, 2, 40, 100)[1]
		got, err := unblock(block(b))
		require.NoError(t, err, "seed %d", seed)
		require.True(t, got.Schema.Equal(s))
		require.NoError(t, got.Check())
		require.Equal(t, tupletest.Lines(b), tupletest.Lines(got), "seed %d", seed)
	}
}

// The bytes depend on the rows alone: not on what the dictionary held before, nor on a selection.
func TestBlockIsCanonical(t *testing.T) {
	for seed := range uint64(200) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		b := tupletest.Batches(r, s, 3, 30, 100)[2] // its dictionaries hold the values of the first two as well
		want := block(b)
		require.Equal(t, want, block(b.Clone()))
		again, err := unblock(want)
		require.NoError(t, err)
		if !plainBinary(b) {
			require.Equal(t, want, block(again), "seed %d", seed)
		}
	}
}

// plainBinary reports whether some binary column holds equal values under several codes: such a block keeps that.
func plainBinary(b *tuple.Batch) bool {
	for i := range b.Cols {
		if d := b.Cols[i].Dict; d != nil && !d.Distinct() {
			return true
		}
	}
	return false
}

// The decoded batch has nothing of the input's memory.
func TestBlockIsOwned(t *testing.T) {
	r := tupletest.Source(9)
	b := tupletest.Batches(r, tupletest.Schema(r), 1, 30, 100)[0]
	data := block(b)
	got, err := unblock(data)
	require.NoError(t, err)
	want := tupletest.Lines(got)
	for i := range data {
		data[i] = 0xEE
	}
	require.Equal(t, want, tupletest.Lines(got))
}

// Every cut is noticed; no flipped byte leads to a panic or an inconsistent batch.
func TestDamagedBlocks(t *testing.T) {
	for seed := range uint64(12) {
		r := tupletest.Source(seed)
		data := block(tupletest.Batches(r, tupletest.Schema(r), 1, 6, 100)[0])
		for n := range data {
			_, err := unblock(data[:n])
			require.ErrorIs(t, err, tuple.ErrCorrupt, "cut at %d", n)
		}
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= byte(1 + r.IntN(255))
			examine(t, bad)
		}
	}
}

// examine decodes anything and uses what comes out.
func examine(t *testing.T, data []byte) {
	b, err := unblock(data)
	if err != nil {
		if !errors.Is(err, tuple.ErrCorrupt) {
			t.Fatalf("%v", err)
		}
		return
	}
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	tupletest.Lines(b)
	tupletest.Hash(b)
	block(b)
}

func FuzzBlock(f *testing.F) {
	for seed := range uint64(6) {
		r := tupletest.Source(seed)
		f.Add(block(tupletest.Batches(r, tupletest.Schema(r), 1, 3, 100)[0]))
	}
	f.Fuzz(examine)
}
