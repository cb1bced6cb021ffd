package state

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// Places are given in order of first appearance, the same in every fork until it goes on by itself.
func TestSubsetNumbersByAppearance(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	type side struct {
		set   Subset
		place map[uint32]uint32
	}
	sides := []*side{{place: map[uint32]uint32{}}}
	for range 300 {
		s := sides[rng.Intn(len(sides))]
		slots := make([]uint32, rng.Intn(100))
		for i := range slots {
			slots[i] = uint32(rng.Intn(5000))
		}
		for i, p := range s.set.Places(nil, slots) {
			if _, ok := s.place[slots[i]]; !ok {
				s.place[slots[i]] = uint32(len(s.place))
			}
			require.Equal(t, s.place[slots[i]], p)
		}
		if len(sides) < 5 && rng.Intn(20) == 0 {
			f := &side{set: s.set.Fork(), place: map[uint32]uint32{}}
			for slot, p := range s.place {
				f.place[slot] = p
			}
			sides = append(sides, f)
		}
	}
	for _, s := range sides {
		require.Equal(t, len(s.place), s.set.Len())
		for slot := range uint32(5000) {
			want, ok := s.place[slot]
			if !ok {
				want = None
			} else {
				require.Equal(t, slot, s.set.Slot(want))
			}
			require.Equal(t, want, s.set.Find(slot))
		}
	}
}

// A few slots take the same memory whatever their numbers are.
func TestSubsetTakesWhatOccurs(t *testing.T) {
	var low, high Subset
	low.Places(nil, []uint32{1, 2, 3})
	high.Places(nil, []uint32{1 << 30, 1<<30 + 7, 3})
	require.Equal(t, low.Bytes(), high.Bytes())
	require.LessOrEqual(t, low.Bytes(), int64(64))
	f := low.Fork()
	require.LessOrEqual(t, f.Bytes(), int64(64))
}
