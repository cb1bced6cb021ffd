package op

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// expiries is a heap of things that end at a time, the earliest first. Entries are not moved when an end moves: whoever
// takes one looks at the real end, and adds it again if that is later.
type expiries struct {
	heap state.Array[expiry]
	n    int
}

type expiry struct {
	end tuple.Time
	id  uint32
}

func (x expiry) before(y expiry) bool { return x.end < y.end || x.end == y.end && x.id < y.id }

func (h *expiries) push(x expiry) {
	h.heap.Grow(h.n + 1)
	i := uint32(h.n)
	h.n++
	for i > 0 {
		parent := (i - 1) / 2
		p := h.heap.Get(parent)
		if !x.before(p) {
			break
		}
		*h.heap.At(i) = p
		i = parent
	}
	*h.heap.At(i) = x
}

// first returns the earliest entry; there is one.
func (h *expiries) first() expiry { return h.heap.Get(0) }

func (h *expiries) pop() {
	h.n--
	x, i := h.heap.Get(uint32(h.n)), uint32(0)
	for {
		child := 2*i + 1
		if int(child) >= h.n {
			break
		}
		c := h.heap.Get(child)
		if int(child)+1 < h.n {
			if r := h.heap.Get(child + 1); r.before(c) {
				child, c = child+1, r
			}
		}
		if !c.before(x) {
			break
		}
		*h.heap.At(i) = c
		i = child
	}
	if h.n > 0 {
		*h.heap.At(i) = x
	}
}

func (h *expiries) fork() expiries { return expiries{heap: h.heap.Fork(), n: h.n} }
