package seglog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAgainst(t *testing.T) {
	seen := Identity{Log: [16]byte{1}, Generation: 2, Boot: 5}
	for _, c := range []struct {
		now  Identity
		want Standing
	}{
		{Identity{Log: [16]byte{1}, Generation: 2, Boot: 6}, Continues},
		{Identity{Log: [16]byte{1}, Generation: 3, Boot: 9}, Continues},
		{Identity{Log: [16]byte{1}, Generation: 2, Boot: 5}, Restored},
		{Identity{Log: [16]byte{1}, Generation: 2, Boot: 3}, Restored},
		{Identity{Log: [16]byte{1}, Generation: 1, Boot: 9}, Restored},
		{Identity{Log: [16]byte{2}, Generation: 2, Boot: 6}, Unrelated},
	} {
		require.Equal(t, c.want, c.now.Against(seen), "%v", c.now)
	}
}

// Damage that reaches records known to be durable, and goes on into the interrupted write, is cut, and says how many
// durable ones are lost.
func TestTear(t *testing.T) {
	between := func(last, next uint64) hole {
		return hole{before: segment{lastSeq: last, firstSeq: 1}, next: frame{seq: next}, found: next > 0}
	}
	v := survey{durable: 50, holes: []hole{between(10, 20), between(40, 60), between(70, 80)}}
	require.Equal(t, 1, v.tear())
	s := &segment{firstSeq: 1, lastSeq: 90}
	require.EqualValues(t, 10, v.cut(s, &v.holes[1]).Acknowledged)
	require.EqualValues(t, 40, s.lastSeq)
	require.Equal(t, 2, (&survey{durable: 90, holes: v.holes[:2]}).tear())
	require.Equal(t, 0, (&survey{durable: 90, holes: []hole{{}}}).tear())
}
