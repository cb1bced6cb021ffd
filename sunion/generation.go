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
	minute := max(minuteOf(l.At), o.generation>>historyBits+1)
	o.generation, o.next = minute<<historyBits|folded(&e, historyBits), 1
	return o.generation
}

// Origin is all that the results of a generation depend on that begins anew: from where in the input on, and the generation in
// which each stream was since what the state depends on.
type Origin struct {
	At      tuple.Time
	Streams []Begun
}

// Begun is a stream in one of its generations; 0 if its rows are the same in each.
type Begun struct {
	Stream     string
	Generation uint64
}

// secondBits are those of the history's that count the seconds of the minute in the number of an origin, so that numbers rise
// from one origin to the next.
const secondBits = 6

// Generation is the number of the generation that begins there.
func (a *Origin) Generation() uint64 {
	var e tuple.Encoder
	e.Time(a.At)
	for _, s := range a.Streams {
		e.String(s.Stream)
		e.Uint(s.Generation)
	}
	second := uint64(max(0, a.At)) / uint64(tuple.Second) % 60
	return minuteOf(a.At)<<historyBits | second<<(historyBits-secondBits) | folded(&e, historyBits-secondBits)
}

// Begin ends a generation: what follows depends on nothing before the origin, and has ids of its own from 1. It returns the new
// one's number, that of the origin, whatever the output has given before: replicas that begin at one place share it. Only a number
// that would not rise is put off by minutes.
func (o *SOutput) Begin(a Origin) uint64 {
	number := a.Generation()
	for number <= o.generation {
		number = (o.generation>>historyBits+1)<<historyBits | number&(1<<historyBits-1)
	}
	o.generation, o.next = number, 1
	return number
}

// minuteOf returns the minutes of a stime, as far as a generation counts them.
func minuteOf(t tuple.Time) uint64 {
	return min(uint64(max(0, t))/uint64(tuple.Minute), 1<<(53-historyBits)-1)
}

// folded returns a hash of so many bits. Nothing of what is written is left out.
func folded(e *tuple.Encoder, bits int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(e.B) // a hash takes everything
	sum := h.Sum64()
	return (sum ^ sum>>bits) & (1<<bits - 1)
}
