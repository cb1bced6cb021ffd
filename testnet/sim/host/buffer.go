package host

import (
	"errors"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// Buffer is an Output made of a dcaa.OutputBuffer, with the cursor that a daemon's output has.
type Buffer struct {
	Stable *dcaa.OutputBuffer
	// names are the subscribers' names by node.
	names []string
	dwell dcaa.Dwell
}

// runBytes is how much of a run is kept.
const runBytes = 64 << 20

// NewBuffer serves b to subscribers whose names are known by node.
func NewBuffer(b *dcaa.OutputBuffer, names []string) *Buffer { return &Buffer{Stable: b, names: names} }

// Append adds a frame of any kind.
func (o *Buffer) Append(f *tuple.Frame, now dcaa.Instant) {
	o.dwell.Note(f, now)
	switch f.Kind {
	case tuple.Tentative, tuple.TentativeBoundary, tuple.Undo, tuple.RecDone:
		o.Stable.AppendTentative(f, runBytes)
	default:
		o.Stable.Append(f)
	}
}

// Attach counts the subscriber.
func (o *Buffer) Attach(peer world.NodeID, r Request) (Place, tuple.Position, bool) {
	if gone := truncated(o.Stable.Subscribe(o.names[peer], r.From, r.Durable)); gone != nil {
		return Place{}, gone.First, false
	}
	at := Place{Stable: o.Stable.Seek(r.From)}
	if r.Tentative {
		at.Tentative = o.Stable.SeekRun(r.TentativeFrom)
	}
	return at, tuple.Position{}, true
}

// Gone says where a subscriber can go on if something behind a position is not held any more.
func (o *Buffer) Gone(at tuple.Position) *dcaa.TruncatedError { return truncated(o.Stable.Reaches(at)) }

// truncated returns what an error says of rows that are gone, nil if it says nothing.
func truncated(err error) *dcaa.TruncatedError {
	var gone *dcaa.TruncatedError
	errors.As(err, &gone)
	return gone
}

// Next merges the stable frames with those of runs.
func (o *Buffer) Next(at Place, r *Request, now dcaa.Instant) (*tuple.Frame, Place) {
	f, at := o.next(at, r)
	if f != nil {
		f = o.dwell.Stamp(f, now)
	}
	return f, at
}

func (o *Buffer) next(at Place, r *Request) (*tuple.Frame, Place) {
	for {
		f, seq, ok := o.Stable.Frame(at.Stable)
		if r.Tentative {
			if run, runSeq, there := o.Stable.RunFrame(at.Tentative, at.Stable); there && (!ok || runSeq < seq) {
				at.Tentative = runSeq + 1
				return run, at
			}
		}
		if !ok {
			return nil, at
		}
		at.Stable = seq + 1
		if f.Kind != tuple.Insertion || !r.From.Holds(f) {
			return f, at
		}
	}
}

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
	for _, name := range dcaa.Dispensable(acked, func(name string) bool { return away(o.node(name)) }, func(string) bool { return true }) {
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
