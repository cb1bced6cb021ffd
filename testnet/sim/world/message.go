package world

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// Kind says what a message means to the programs; the world does not look at it.
type Kind uint8

// Message is what one node sends another. The world keeps messages in a pool: a program fills the one that [World.Send]
// returns at once, and does not keep one that it is handed.
type Message struct {
	Kind Kind
	// Control messages can be repeated and overtaken while a fault says so.
	Control bool
	// Sub is the number of the subscription that it belongs to.
	Sub uint32
	// Number and Count mean what Kind says.
	Number uint64
	Count  int64
	Line   dcaa.Beat
	Stream int32
	At     tuple.Position
	Also   tuple.Position
	Frame  *tuple.Frame
	Body   any
	// Beat is what a heartbeat tells of each stream; its memory is reused.
	Beat []Status

	from, to NodeID
	epoch    uint32 // of the connection
	signal   signal
	free     uint32 // next free slot
	leaves   int64  // when the wire has taken it
	loose    bool   // others overtake it
}

// Status is what a heartbeat tells of one stream that the sender serves.
type Status struct {
	Stream int32
	dcaa.StreamStatus
}

// signal is what the world itself has to say with a message.
type signal uint8

const (
	sigNone   signal = iota
	sigDial          // a connection is asked for
	sigAccept        // and given
	sigReset         // and refused, or over
	sigLate          // and nobody answered in time
)

// pool holds messages by number; a freed one is used again.
type pool struct {
	slots []Message
	free  uint32 // number + 1 of the first free one
}

func (p *pool) get() uint32 {
	if p.free != 0 {
		n := p.free - 1
		p.free = p.slots[n].free
		return n
	}
	p.slots = append(p.slots, Message{})
	return uint32(len(p.slots) - 1)
}

func (p *pool) put(n uint32) {
	m := &p.slots[n]
	*m = Message{Beat: m.Beat[:0], free: p.free}
	p.free = n + 1
}

// copyOf returns the number of a new message like n.
func (p *pool) copyOf(n uint32) uint32 {
	c := p.get()
	m, o := &p.slots[c], &p.slots[n]
	beat := append(m.Beat[:0], o.Beat...)
	*m = *o
	m.Beat = beat
	return c
}
