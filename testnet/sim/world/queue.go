package world

import (
	"cmp"
	"slices"
)

// eventKind says what happens.
type eventKind uint8

const (
	evWake    eventKind = iota // the program asked to be woken; arg is the node's wake number
	evReady                    // the processor is free again
	evArrive                   // message arg reaches the node
	evStored                   // commit arg is durable
	evCall                     // arg indexes World.calls
	evDialEnd                  // the dial that arg numbers has taken too long
)

// event is one entry of the queue. It has no pointers, so that the collector never looks at the queue.
type event struct {
	at   int64 // world time
	seq  uint32
	arg  uint32
	node NodeID
	kind eventKind
}

// before orders events by time, then by when they were made.
func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is a heap of events with four children a node: flatter than two, and the children share a cache line or two.
type queue struct {
	heap []event
	seq  uint32
}

func (q *queue) len() int { return len(q.heap) }

// push adds an event behind all others of the same moment.
func (q *queue) push(e event) {
	e.seq = q.seq
	q.seq++
	h := append(q.heap, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	q.heap = h
}

// pop removes the first event; there is one.
func (q *queue) pop() event {
	h := q.heap
	first := h[0]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	n, i := len(h), 0
	if n == 0 {
		return first
	}
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = last
	return first
}

// rearrange lets f change the times of events, which it is given in order.
func (q *queue) rearrange(f func(*event)) {
	order := func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) }
	slices.SortFunc(q.heap, order)
	for i := range q.heap {
		f(&q.heap[i])
	}
	slices.SortFunc(q.heap, order) // what is in order is a heap
}
