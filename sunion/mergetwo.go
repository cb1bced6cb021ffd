package sunion

import "sort"

// mergeTwo merges x and y into dst. Where both are long it cuts the result in the middle, and merges the halves at the
// same time, each from both ends.
func mergeTwo(dst, x, y []uint64) {
	if len(x) == 0 || len(y) == 0 || x[len(x)-1] <= y[0] {
		copy(dst, x)
		copy(dst[len(x):], y)
		return
	}
	if min(len(x), len(y)) < 64 {
		mergeEnds(dst, x, y)
		return
	}
	i := cutAt(x, y, len(dst)/2)
	j := len(dst)/2 - i
	mergeHalves(ends{dst[:i+j], x[:i], y[:j]}, ends{dst[i+j:], x[i:], y[j:]})
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
type ends struct{ dst, x, y []uint64 }

// mergeHalves takes as many steps in two merges as can be taken in both, then ends each. The choice between two heads is
// arithmetic, not a branch: on interleaved inputs a branch would be mispredicted every other row. Each of the four
// chains of choices waits for itself only. After k steps k words have been taken from each end, so that one index tells
// the other.
func mergeHalves(a, b ends) {
	n := min(len(a.x), len(a.y), len(b.x), len(b.y))
	ax, ay, ad := a.x, a.y, a.dst
	bx, by, bd := b.x, b.y, b.dst
	i, p, s, u := 0, len(ax)-1, 0, len(bx)-1 // next of x, from the front and from the back
	aEnd, bEnd := len(ad)-1, len(bd)-1
	for k := range n {
		wx, wy := ax[i], ay[k-i]
		ad[k] = min(wx, wy)
		fromX := 0
		if wx <= wy {
			fromX = 1
		}
		i += fromX

		wx, wy = ax[p], ay[aEnd-1-k-p]
		ad[aEnd-k] = max(wx, wy)
		fromX = 0
		if wx > wy {
			fromX = 1
		}
		p -= fromX

		wx, wy = bx[s], by[k-s]
		bd[k] = min(wx, wy)
		fromX = 0
		if wx <= wy {
			fromX = 1
		}
		s += fromX

		wx, wy = bx[u], by[bEnd-1-k-u]
		bd[bEnd-k] = max(wx, wy)
		fromX = 0
		if wx > wy {
			fromX = 1
		}
		u -= fromX
	}
	mergeEnds(ad[n:aEnd+1-n], ax[i:p+1], ay[n-i:aEnd-n-p])
	mergeEnds(bd[n:bEnd+1-n], bx[s:u+1], by[n-s:bEnd-n-u])
}

// mergeEnds merges from both ends at once, for as many steps as neither side can run out in, and then from the front.
func mergeEnds(dst, x, y []uint64) {
	n, end := min(len(x), len(y)), len(dst)-1
	i, p := 0, len(x)-1
	for k := range n {
		wx, wy := x[i], y[k-i]
		dst[k] = min(wx, wy)
		fromX := 0
		if wx <= wy {
			fromX = 1
		}
		i += fromX

		wx, wy = x[p], y[end-1-k-p]
		dst[end-k] = max(wx, wy)
		fromX = 0
		if wx > wy {
			fromX = 1
		}
		p -= fromX
	}
	mergeFront(dst[n:end+1-n], x[i:p+1], y[n-i:end-n-p])
}

// mergeFront merges from the front: what is left, and most of it is one side's.
func mergeFront(dst, x, y []uint64) {
	k := 0
	for ; len(x) > 0 && len(y) > 0; k++ {
		if x[0] <= y[0] {
			dst[k], x = x[0], x[1:]
		} else {
			dst[k], y = y[0], y[1:]
		}
	}
	k += copy(dst[k:], x)
	copy(dst[k:], y)
}
