package flow

import "sync"

// NewsBox collects news of nodes until a consumer takes them. Of each node only the newest counts, so it never grows.
// It is safe for concurrent use.
type NewsBox struct {
	mu      sync.Mutex
	pending map[string]News
	order   []string
	wake    chan struct{}
}

// NewNewsBox returns an empty box.
func NewNewsBox() *NewsBox {
	return &NewsBox{pending: make(map[string]News), wake: make(chan struct{}, 1)}
}

// Note takes news. It does not block.
func (b *NewsBox) Note(n News) {
	b.mu.Lock()
	old, waits := b.pending[n.Name]
	if !waits {
		b.order = append(b.order, n.Name)
	} else if n.Streams == nil && n.Up {
		n.Streams = old.Streams
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
		news = append(news, b.pending[name])
	}
	clear(b.pending)
	b.order = nil
	return news
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
