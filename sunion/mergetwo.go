package sunion

import (
	"math/bits"
	"sort"
)

// mergeTwo merges x and y into dst, which takes whole words or only their lower halves, the places. Where both are long
// it cuts the result in the middle, and merges the halves at the same time, each from both ends. No two words are equal.
func mergeTwo[W uint64 | uint32](dst []W, x, y []uint64) {
	if len(x) == 0 || len(y) == 0 || x[len(x)-1] < y[0] {
		put(dst, x)
		put(dst[len(x):], y)
		return
	}
	if min(len(x), len(y)) < 64 {
		mergeEnds(dst, x, y)
		return
	}
	i := cutAt(x, y, len(dst)/2)
	j := len(dst)/2 - i
	mergeHalves(ends[W]{dst[:i+j], x[:i], y[:j]}, ends[W]{dst[i+j:], x[i:], y[j:]})
}

// cutAt returns how many of the first n words of the merge of x and y are x's.
func cutAt(x, y []uint64, n int) int {
	low, high := max(0, n-len(y)), min(n, len(x))
	return low + sort.Search(high-low, func(k int) bool {
		// Too many, or just enough, of x: the next of x is not before the last that would be taken of y.
		i := low + k
		return n-i == 0 || x[i] > y[n-i-1]
	})
}

// ends is a merge that goes on from both ends: of x and y into dst, which is as long as both.
type ends[W uint64 | uint32] struct {
	dst  []W
	x, y []uint64
}

// mergeHalves takes as many steps in two merges as can be taken in both, then ends each. Each of the four chains of
// choices waits for itself only. After k steps k words have been taken from each end, so that one index tells the other.
//
// The choice between two heads is arithmetic, not a branch: on interleaved inputs a branch would be mispredicted every
// other row. less is 1 if x's head is the lesser, and -less a mask of all its bits.
func mergeHalves[W uint64 | uint32](a, b ends[W]) {
	n := min(len(a.x), len(a.y), len(b.x), len(b.y))
	ax, ay, ad := a.x, a.y, a.dst
	bx, by, bd := b.x, b.y, b.dst
	i, p, s, u := 0, len(ax)-1, 0, len(bx)-1 // next of x, from the front and from the back
	aEnd, bEnd := len(ad)-1, len(bd)-1
	for k := range n {
		wx, wy := ax[i], ay[k-i]
		diff, less := bits.Sub64(wx, wy, 0)
		ad[k] = W(wy + diff&-less)
		i += int(less)

		wx, wy = ax[p], ay[aEnd-1-k-p]
		diff, less = bits.Sub64(wx, wy, 0)
		ad[aEnd-k] = W(wx - diff&-less)
		p += int(less) - 1

		wx, wy = bx[s], by[k-s]
		diff, less = bits.Sub64(wx, wy, 0)
		bd[k] = W(wy + diff&-less)
		s += int(less)

		wx, wy = bx[u], by[bEnd-1-k-u]
		diff, less = bits.Sub64(wx, wy, 0)
		bd[bEnd-k] = W(wx - diff&-less)
		u += int(less) - 1
	}
	mergeEnds(ad[n:aEnd+1-n], ax[i:p+1], ay[n-i:aEnd-n-p])
	mergeEnds(bd[n:bEnd+1-n], bx[s:u+1], by[n-s:bEnd-n-u])
}

// mergeEnds merges from both ends at once, for as many steps as neither side can run out in, and then from the front.
func mergeEnds[W uint64 | uint32](dst []W, x, y []uint64) {
	n, end := min(len(x), len(y)), len(dst)-1
	i, p := 0, len(x)-1
	for k := range n {
		wx, wy := x[i], y[k-i]
		diff, less := bits.Sub64(wx, wy, 0)
		dst[k] = W(wy + diff&-less)
		i += int(less)

		wx, wy = x[p], y[end-1-k-p]
		diff, less = bits.Sub64(wx, wy, 0)
		dst[end-k] = W(wx - diff&-less)
		p += int(less) - 1
	}
	mergeFront(dst[n:end+1-n], x[i:p+1], y[n-i:end-n-p])
}

// mergeFront merges from the front: what is left, and most of it is one side's.
func mergeFront[W uint64 | uint32](dst []W, x, y []uint64) {
	k := 0
	for ; len(x) > 0 && len(y) > 0; k++ {
		if x[0] < y[0] {
			dst[k], x = W(x[0]), x[1:]
		} else {
			dst[k], y = W(y[0]), y[1:]
		}
	}
	put(dst[k:], x)
	put(dst[k+len(x):], y)
}

// put copies words as dst takes them.
func put[W uint64 | uint32](dst []W, words []uint64) {
	dst = dst[:len(words)]
	for i, w := range words {
		dst[i] = W(w)
	}
}
