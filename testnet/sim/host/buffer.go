package host

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// Buffer is an Output made of a dcaa.OutputBuffer and the tentative frames of the open run beside it, in one order of
// emission.
type Buffer struct {
	Stable *dcaa.OutputBuffer
	// names are the subscribers' names by node.
	names []string
	// seq is the number of the next stable frame.
	seq uint64
	// run are the tentative frames of the open run, of which the stable boundary has not passed all.
	run   []tentative
	first uint64 // number of run[0]
}

// tentative is a frame of a run. It comes when the subscriber has been given all stable frames before a number.
type tentative struct {
	frame *tuple.Frame
	after uint64
}

// NewBuffer serves b to subscribers whose names are known by node.
func NewBuffer(b *dcaa.OutputBuffer, names []string) *Buffer {
	o := &Buffer{Stable: b, names: names}
	o.seq = o.end()
	return o
}

// end is the number that the next stable frame gets.
func (o *Buffer) end() uint64 {
	return o.Stable.Seek(tuple.Position{ID: ^uint64(0), Time: tuple.MaxTime})
}

// Append adds a frame of any kind.
func (o *Buffer) Append(f *tuple.Frame) {
	switch f.Kind {
	case tuple.Tentative, tuple.TentativeBoundary:
		o.run = append(o.run, tentative{frame: f, after: o.seq})
	case tuple.Undo, tuple.RecDone:
		// What is left of the run need not come any more; that it is over must.
		o.first += uint64(len(o.run))
		clear(o.run)
		o.run = append(o.run[:0], tentative{frame: f, after: o.seq})
	default:
		o.Stable.Append(f)
		o.seq++
		if f.Kind == tuple.Boundary {
			o.pass(f.Time)
		}
	}
}

// pass forgets what the stable boundary has passed. What is left comes behind that boundary, so that nobody sees a hole.
func (o *Buffer) pass(t tuple.Time) {
	gone := 0
	for i := range o.run {
		if f := o.run[i].frame; f.Kind == tuple.TentativeBoundary && f.Time <= t {
			gone = i + 1
		}
	}
	if gone == 0 {
		return
	}
	o.first += uint64(gone)
	n := copy(o.run, o.run[gone:])
	clear(o.run[n:])
	o.run = o.run[:n]
	for i := range o.run {
		o.run[i].after = o.seq
	}
}

// Attach counts the subscriber.
func (o *Buffer) Attach(peer world.NodeID, r Request) (Place, tuple.Position, bool) {
	if err := o.Stable.Reaches(r.From); err != nil {
		return Place{}, o.Stable.Truncated(), false
	}
	if err := o.Stable.Subscribe(o.names[peer], r.From, r.Durable); err != nil {
		return Place{}, o.Stable.Truncated(), false
	}
	return Place{Stable: o.Stable.Seek(r.From), Tentative: o.first + o.behind(r.TentativeFrom)}, tuple.Position{}, true
}

// behind returns how many frames of the run lie before a stime that the subscriber holds all of.
func (o *Buffer) behind(t tuple.Time) uint64 {
	n := 0
	for i := range o.run {
		switch f := o.run[i].frame; {
		case f.Kind == tuple.Undo || f.Kind == tuple.RecDone:
			return uint64(n)
		case f.Kind == tuple.TentativeBoundary && f.Time <= t:
			n = i + 1
		}
	}
	return uint64(n)
}

// First returns the oldest position that is held.
func (o *Buffer) First() tuple.Position { return o.Stable.Truncated() }

// Next merges the stable frames with those of the run.
func (o *Buffer) Next(at Place, r *Request) (*tuple.Frame, Place) {
	if r.Tentative {
		at.Tentative = max(at.Tentative, o.first)
		if i := at.Tentative - o.first; i < uint64(len(o.run)) && o.run[i].after <= at.Stable {
			at.Tentative++
			return o.run[i].frame, at
		}
	}
	f, seq, ok := o.Stable.Frame(at.Stable)
	if !ok {
		return nil, at
	}
	at.Stable = seq + 1
	return f, at
}

// Tentative returns how many frames of a run are held.
func (o *Buffer) Tentative() int { return len(o.run) }

// Ack takes a subscriber's acknowledgement.
func (o *Buffer) Ack(peer world.NodeID, at tuple.Position) { o.Stable.Ack(o.names[peer], at) }

// Count counts the readers of a stream from its beginning on, whether they have asked already or not.
func (o *Buffer) Count(readers []world.NodeID, from tuple.Position) {
	for _, r := range readers {
		if _, ok := o.Stable.Acked(o.names[r]); !ok {
			o.Stable.Subscribe(o.names[r], from, from)
		}
	}
}

// Forget stops counting the readers that are away and need not be waited for.
func (o *Buffer) Forget(away func(world.NodeID) bool) {
	acked := make(map[string]tuple.Position)
	for _, name := range o.Stable.Subscribers() {
		acked[name], _ = o.Stable.Acked(name)
	}
	for _, name := range dcaa.Dispensable(acked, func(name string) bool { return away(o.node(name)) }) {
		o.Stable.Forget(name)
	}
}

// node returns the node of a subscriber.
func (o *Buffer) node(name string) world.NodeID {
	for id := range o.names {
		if o.names[id] == name {
			return world.NodeID(id)
		}
	}
	return -1
}
