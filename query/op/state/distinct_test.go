package state

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// distinctModel is one map a slot.
type distinctModel []map[uint64]bool

func (m distinctModel) clone() distinctModel {
	c := make(distinctModel, len(m))
	for i := range m {
		c[i] = map[uint64]bool{}
		for v := range m[i] {
			c[i][v] = true
		}
	}
	return c
}

func (m distinctModel) add(slots []uint32, vals []int64) {
	for i, s := range slots {
		m[s][uint64(vals[i])] = true
	}
}

func (m distinctModel) check(t *testing.T, d *Distinct) {
	t.Helper()
	slots := make([]uint32, len(m))
	for i := range slots {
		slots[i] = uint32(len(m) - 1 - i)
		require.Equal(t, int64(len(m[slots[i]])), d.Len(slots[i]))
	}
	d.Values(slots, func(i int, got []uint64) {
		var want []uint64
		for v := range m[slots[i]] {
			want = append(want, v)
		}
		slices.Sort(want)
		require.ElementsMatch(t, want, got)
		require.True(t, slices.IsSorted(got))
	})
}

// randomAdds draws slots with very different numbers of values, so that all forms of a set occur.
func randomAdds(rng *rand.Rand, slots int) ([]uint32, []int64) {
	n := rng.Intn(3000)
	s, v := make([]uint32, n), make([]int64, n)
	for i := range s {
		s[i] = uint32(rng.Intn(slots))
		switch v[i] = int64(rng.Intn(4)); s[i] % 4 {
		case 1:
			v[i] = int64(rng.Intn(60)) * 17
		case 2:
			v[i] = int64(rng.Intn(1 << 16))
		case 3:
			v[i] = int64(rng.Intn(300)) - 100 + int64(rng.Intn(2))<<40
		}
	}
	return s, v
}

// Distinct agrees with a map a slot in every form, across forks, merges and reuse.
func TestDistinctProperty(t *testing.T) {
	const slots = 1100
	for seed := range int64(12) {
		rng := rand.New(rand.NewSource(seed))
		live := 1 + rng.Intn(slots)
		d, m := &Distinct{}, make(distinctModel, slots).clone()
		d.Grow(slots)
		for range 12 {
			s, v := randomAdds(rng, live)
			d.Add(s, v)
			m.add(s, v)
			switch rng.Intn(5) {
			case 0:
				f, fm := d.Fork(), m.clone()
				s, v := randomAdds(rng, live)
				f.Add(s, v)
				fm.add(s, v)
				s, v = randomAdds(rng, live)
				d.Add(s, v)
				m.add(s, v)
				fm.check(t, &f)
			case 1:
				other, om := &Distinct{}, make(distinctModel, slots).clone()
				other.Grow(slots)
				s, v := randomAdds(rng, live)
				other.Add(s, v)
				om.add(s, v)
				all := make([]uint32, slots)
				for i := range all {
					all[i] = uint32(i)
				}
				d.Merge(other, all, all, Import{})
				for i := range om {
					for v := range om[i] {
						m[i][v] = true
					}
				}
				om.check(t, other)
			case 2:
				if rng.Intn(3) == 0 {
					d.Clear()
					d.Grow(slots)
					m = make(distinctModel, slots).clone()
				}
			}
		}
		m.check(t, d)
	}
}

// The cache of recent pairs changes nothing: many values, then some too large for it, then a fork.
func TestDistinctManyValues(t *testing.T) {
	const slots = 3000
	rng := rand.New(rand.NewSource(3))
	d, m := &Distinct{}, make(distinctModel, slots).clone()
	d.Grow(slots)
	for round := range 40 {
		s, v := make([]uint32, 4096), make([]int64, 4096)
		for i := range s {
			s[i], v[i] = uint32(rng.Intn(slots)), int64(rng.Intn(40)+rng.Intn(2)*65_000)
			if round == 20 && i%100 == 0 {
				v[i] += 1 << 20
			}
		}
		d.Add(s, v)
		m.add(s, v)
		switch round {
		case 10:
			f, fm := d.Fork(), m.clone()
			f.Add(s, v)
			fm.check(t, &f)
		case 30:
			m.check(t, d)
			d.Clear()
			d.Grow(slots)
			m = make(distinctModel, slots).clone()
		}
	}
	m.check(t, d)
}

// A second window of the same shape takes its memory from the first.
func TestDistinctReuse(t *testing.T) {
	d := &Distinct{}
	rng := rand.New(rand.NewSource(1))
	s, v := randomAdds(rng, 200)
	fill := func() {
		d.Grow(200)
		d.Add(s, v)
		d.Clear()
	}
	fill()
	bytes := d.Bytes()
	require.LessOrEqual(t, testing.AllocsPerRun(20, fill), 4.0)
	require.Equal(t, bytes, d.Bytes())
}
