package state

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// An array agrees with a slice through growth, forks of forks, flattening and reuse.
func TestArrayProperty(t *testing.T) {
	type side struct {
		a    *Array[int64]
		want []int64
	}
	for seed := range int64(60) {
		rng := rand.New(rand.NewSource(seed))
		sides := []side{{a: &Array[int64]{}}}
		for range 300 {
			at := rng.Intn(len(sides))
			s := &sides[at]
			switch n := len(s.want); rng.Intn(8) {
			case 0:
				grown := n + rng.Intn(1500)
				s.a.Grow(grown)
				s.want = append(s.want, make([]int64, grown-n)...)
			case 1:
				require.Equal(t, uint32(n), s.a.Append(7))
				s.want = append(s.want, 7)
			case 2:
				if len(sides) < 4 {
					f := s.a.Fork()
					sides = append(sides, side{a: &f, want: slices.Clone(s.want)})
				}
			case 3:
				if rng.Intn(20) == 0 {
					s.a.Clear()
					s.want = nil
				}
			default:
				write(rng, s.a, s.want)
			}
		}
		for _, s := range sides {
			require.Equal(t, len(s.want), s.a.Len())
			for i, v := range s.want {
				require.Equal(t, v, s.a.Get(uint32(i)))
			}
		}
	}
}

// write changes entries in the two ways that kernels do.
func write(rng *rand.Rand, a *Array[int64], want []int64) {
	if len(want) == 0 {
		return
	}
	slots := make([]uint32, rng.Intn(40))
	for i := range slots {
		slots[i] = uint32(rng.Intn(len(want)))
	}
	a.Own(slots)
	flat, pages := a.Flat(), a.Pages()
	for _, s := range slots {
		v := rng.Int63()
		want[s] = v
		if flat != nil {
			flat[s] = v
		} else {
			pages[s/PageSize][s%PageSize] = v
		}
	}
	s := uint32(rng.Intn(len(want)))
	want[s]++
	*a.At(s)++
}

// A fork copies only the pages that change, and is flat again once half of them have, however they were written.
func TestArrayForkCopiesPages(t *testing.T) {
	var a Array[int64]
	a.Grow(100 * PageSize)
	f := a.Fork()
	require.Nil(t, a.Flat())
	require.LessOrEqual(t, testing.AllocsPerRun(1, func() { *f.At(5*PageSize + 3)++ }), 1.0)
	require.Zero(t, testing.AllocsPerRun(10, func() { *f.At(5 * PageSize)++ }))
	require.Zero(t, a.Get(5*PageSize))
	for p := range uint32(49) {
		f.Own([]uint32{p * PageSize})
		*a.At(p * PageSize)++
	}
	require.Nil(t, f.Flat())
	f.Own([]uint32{49 * PageSize})
	require.NotNil(t, f.Flat())
	*a.At(50 * PageSize) = 7
	require.Nil(t, a.Flat(), "what At returned before stays valid")
	a.Own(nil)
	require.NotNil(t, a.Flat())
	require.EqualValues(t, 1, a.Get(48*PageSize))
	require.EqualValues(t, 7, a.Get(50*PageSize))
	require.Zero(t, f.Get(50*PageSize))
}

// Pairs agree with a map; a slot's pairs come by ascending key.
func TestPairsProperty(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	var p Pairs
	want := map[[2]uint64]int64{}
	for range 20_000 {
		slot, key := uint32(rng.Intn(50)), uint64(rng.Intn(300))<<40
		_, known := want[[2]uint64{uint64(slot), key}]
		require.Equal(t, !known, p.Add(slot, key, 2))
		want[[2]uint64{uint64(slot), key}] += 2
	}
	f := p.Fork()
	f.Add(1, 12345, 1)
	require.Equal(t, len(want), p.Len())
	slots := []uint32{49, 3, 17}
	lists := p.BySlot(slots)
	for i, slot := range slots {
		var last uint64
		n := 0
		for _, e := range lists.Of(i) {
			x := p.Entry(e)
			require.Equal(t, slot, x.Slot)
			require.Equal(t, want[[2]uint64{uint64(slot), x.Key}], x.Count)
			require.True(t, n == 0 || x.Key > last)
			last = x.Key
			n++
		}
		for k := range want {
			if k[0] == uint64(slot) {
				n--
			}
		}
		require.Zero(t, n)
	}
	p.Clear()
	require.Zero(t, p.Len())
	require.True(t, p.Add(1, 12345, 1))
}
