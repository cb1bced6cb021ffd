package flow

import (
	"slices"
	"sync"
)

// NewsBox collects news of nodes until a consumer takes them. Of each node only the newest counts, so it never grows; that
// another session has begun in between is kept.
// It is safe for concurrent use.
type NewsBox struct {
	mu       sync.Mutex
	pending  map[string]News
	order    []string
	lives    map[string]uint64 // of each node, as it was last taken while it was up
	accepted []string          // nodes to be read from again
	wake     chan struct{}
}

// NewNewsBox returns an empty box.
func NewNewsBox() *NewsBox {
	return &NewsBox{pending: make(map[string]News), lives: make(map[string]uint64), wake: make(chan struct{}, 1)}
}

// Note takes news. It does not block.
func (b *NewsBox) Note(n News) {
	b.mu.Lock()
	old, waits := b.pending[n.Name]
	if !waits {
		b.order = append(b.order, n.Name)
	} else {
		n.Anew = old.Anew || !old.Up && n.Life == 0
		if n.Said == nil && n.Up {
			n.Said = old.Said
		}
	}
	b.pending[n.Name] = n
	b.mu.Unlock()
	b.Signal()
}

// Take returns what has come since the last time, and keeps nothing of it.
func (b *NewsBox) Take() []News {
	b.mu.Lock()
	defer b.mu.Unlock()
	var news []News
	for _, name := range b.order {
		n := b.pending[name]
		if n.Up {
			last, known := b.lives[name]
			n.Anew = n.Anew || known && last != n.Life
			b.lives[name] = n.Life
		}
		news = append(news, n)
	}
	clear(b.pending)
	b.order = nil
	return news
}

// Accept asks the consumer to read again from a node whose rows differ. It does not block.
func (b *NewsBox) Accept(name string) {
	b.mu.Lock()
	if !slices.Contains(b.accepted, name) {
		b.accepted = append(b.accepted, name)
	}
	b.mu.Unlock()
	b.Signal()
}

// Accepted returns the nodes that Accept has been called with since the last time.
func (b *NewsBox) Accepted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := b.accepted
	b.accepted = nil
	return names
}

// Wake returns a channel that holds a token once there is something to take.
func (b *NewsBox) Wake() <-chan struct{} { return b.wake }

// Signal puts a token there: something else than news waits too.
func (b *NewsBox) Signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
