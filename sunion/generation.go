package sunion

import (
	"hash/fnv"

	"fednode/query/tuple"
)

// Loss is what an output lacks from some place on: rows of one stream that went into it. It names what has been lost, and
// nothing of who lost it: replicas that lack the same number alike.
type Loss struct {
	// Stream that has been passed over, and the end of the bucket up to which it is complete; MinTime if nothing came before.
	Stream string
	At     tuple.Time
	// Next is where the stream is taken up again: in a generation, behind an id. Its Time is not looked at.
	Next tuple.Position
}

// historyBits is how many bits of a generation stand for its history; those above count minutes. Together they fit into 53
// until the year 2097, so that programs which take every number for a float64 can tell generations apart.
const historyBits = 27

// NextGeneration ends a generation: what follows lacks rows, and has ids of its own from 1. It returns the new one's number,
// which is a function of all that has gone into the output: of the generation so far and how far it got, and of the loss.
// Two replicas, or two lives of one, that share a number give the same rows under the same ids. Numbers rise along a history,
// and of two histories that part, the one that parts at the earlier minute has the lower.
func (o *SOutput) NextGeneration(l Loss) uint64 {
	var e tuple.Encoder
	e.Uint(o.generation)
	e.Uint(o.next)
	e.String(l.Stream)
	e.Time(l.At)
	e.Uint(l.Next.Generation)
	e.Uint(l.Next.ID)
	h := fnv.New64a()
	_, _ = h.Write(e.B) // a hash takes everything
	sum := h.Sum64()
	minute := uint64(max(0, l.At)) / uint64(tuple.Minute)
	minute = max(min(minute, 1<<(53-historyBits)-1), o.generation>>historyBits+1)
	o.generation, o.next = minute<<historyBits|(sum^sum>>historyBits)&(1<<historyBits-1), 1
	return o.generation
}
