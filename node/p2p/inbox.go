package p2p

import (
	"sync"

	"fednode/node/wire"
)

// inboxBytes bounds the messages that wait for the handler, beside their number.
const inboxBytes = 8 * wire.MaxControl

// event is one call of the handler that is due. Exactly one of its fields is set.
type event struct {
	message wire.Message
	up      bool   // heard again after a doubt
	doubt   *Cause // silent, or deaf
	beat    bool   // what the newest heartbeat says
}

// inbox holds what the handler of a session has yet to be told, in order, so that reading never waits for the handler
// until the inbox is full.
type inbox struct {
	most int // messages

	mu       sync.Mutex
	events   []event
	messages int
	bytes    int
	// streams is what the newest heartbeat said, while an event says that it is due: a handler that is behind hears of the
	// newest only.
	streams []wire.StreamStatus
	due     bool
	closed  bool

	ready chan struct{} // capacity 1: something came, or the inbox was closed
	room  chan struct{} // capacity 1: something was taken
}

func newInbox(most int) *inbox {
	return &inbox{most: most, ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// put adds a message; false if the inbox is full.
func (b *inbox) put(m wire.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := sizeOf(m)
	if b.messages >= b.most || b.messages > 0 && b.bytes+n > inboxBytes {
		return false
	}
	b.messages++
	b.bytes += n
	b.add(event{message: m})
	return true
}

// sizeOf is about what a message holds: those that carry a descriptor are the large ones.
func sizeOf(m wire.Message) int {
	const small = 512
	switch m := m.(type) {
	case *wire.Push:
		return small + len(m.Descriptor)
	case *wire.Host:
		return small + len(m.Descriptor)
	case *wire.Announce:
		return small * (1 + len(m.Revisions))
	case *wire.Pull:
		return small * (1 + len(m.Queries))
	}
	return small
}

// hear replaces what the newest heartbeat said.
func (b *inbox) hear(streams []wire.StreamStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams = streams
	if !b.due {
		b.due = true
		b.add(event{beat: true})
	}
}

// doubt adds that the peer is down for now.
func (b *inbox) doubt(c Cause) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(event{doubt: &c})
}

// trust adds that it is up again. A doubt that the handler has not heard of by then it need not hear of: so a handler that
// does not return finds no long list of them.
func (b *inbox) trust() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := len(b.events) - 1; last >= 0 && b.events[last].doubt != nil {
		b.events = b.events[:last]
		return
	}
	b.add(event{up: true})
}

// add appends an event. mu is held.
func (b *inbox) add(e event) {
	b.events = append(b.events, e)
	signal(b.ready)
}

// close ends the inbox: what waits can still be taken.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	signal(b.ready)
}

// take returns the next event, with what the heartbeat said if it is one. It waits for it; ok is false once the inbox is
// closed and empty.
func (b *inbox) take() (e event, streams []wire.StreamStatus, ok bool) {
	for {
		b.mu.Lock()
		if len(b.events) > 0 {
			e = b.events[0]
			b.events = b.events[1:]
			b.taken(e)
			streams = b.streams
			b.mu.Unlock()
			return e, streams, true
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return event{}, nil, false
		}
		<-b.ready
	}
}

// taken makes room. mu is held.
func (b *inbox) taken(e event) {
	if e.beat {
		b.due = false
	}
	if e.message != nil {
		b.messages--
		b.bytes -= sizeOf(e.message)
		signal(b.room)
	}
}
