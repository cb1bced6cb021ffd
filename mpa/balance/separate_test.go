package balance

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// No other place leaves the halves nearer to each other, and the shares are those of the halves.
func TestSeparateNearestToEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SliceOfN(rapid.Float64Range(0, 100), 2, 12).Draw(t, "throughput")
		s, err := Separate(make([]Part, len(by)), by, 2)
		require.NoError(t, err)
		apart := func(at int) float64 {
			d := 0.0
			for i, v := range by {
				if i < at {
					v = -v
				}
				d += v
			}
			return math.Abs(d)
		}
		require.Greater(t, s.At, 0)
		require.Less(t, s.At, len(by))
		for at := 1; at < len(by); at++ {
			require.LessOrEqual(t, apart(s.At), apart(at)+1e-9)
		}
		require.InDelta(t, 1, s.Shares[0]+s.Shares[1], 1e-12)
	})
}

func TestSeparateByKey(t *testing.T) {
	for times, want := range map[float64]int{1.01: 2, 2: 2, 2.5: 3, 9: 9, 1e9: maxPartitions, math.Inf(1): maxPartitions} {
		s, err := Separate([]Part{{Name: "count", Keyed: true}}, []float64{5}, times)
		require.NoError(t, err)
		require.Equal(t, want, s.Partitions, times)
		require.Len(t, s.Shares, want)
	}
	_, err := Separate([]Part{{Name: "sort"}}, []float64{5}, 2)
	require.ErrorIs(t, err, ErrWhole)
	_, err = Separate(nil, nil, 2)
	require.ErrorContains(t, err, "not known")
}

// Replicas of a divided unit stay apart from replicas of the whole, and not from replicas of another part.
func TestReplicasOfParts(t *testing.T) {
	of := func(name string) *Unit { return &Unit{Replicas: name} }
	require.True(t, of("q").replicates(of("q")))
	require.True(t, of("q/1").replicates(of("q")))
	require.True(t, of("q").replicates(of("q/2/1")))
	require.False(t, of("q/1").replicates(of("q/2")))
	require.False(t, of("q").replicates(of("qq")))
	require.False(t, of("").replicates(of("")))
}
