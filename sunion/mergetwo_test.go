package sunion

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// mergeTwo gives what sorting gives, for sides of any lengths and however they interleave.
func TestMergeTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := func(name string) []uint64 {
			n, from := rapid.IntRange(0, 400).Draw(t, name+" rows"), rapid.Uint64Range(0, 2000).Draw(t, name+" from")
			step := rapid.Uint64Range(0, 30).Draw(t, name+" step")
			words := make([]uint64, n)
			for i := range words {
				words[i] = from + step*uint64(i) + uint64(i*i%7)
			}
			slices.Sort(words)
			return words
		}
		x, y := side("x"), side("y")
		want := slices.Concat(x, y)
		slices.Sort(want)
		got := make([]uint64, len(want))
		mergeTwo(got, x, y)
		if !slices.Equal(got, want) {
			t.Fatalf("%d and %d words: got %v, want %v", len(x), len(y), got, want)
		}
	})
}
