package fragment

import (
	"sync"

	"fednode/dcaa"
)

// newsbox collects news of other nodes until the run loop takes them. Of each node only the newest counts, so it never
// grows.
type newsbox struct {
	mu       sync.Mutex
	pending  map[string]News
	order    []string
	messages []permissionFrom
	// wake holds a token while something is pending.
	wake chan struct{}
}

type permissionFrom struct {
	from string
	m    dcaa.PermissionMessage
}

// mostMessages bounds what waits; messages may be lost, and are repeated.
const mostMessages = 256

func newNewsbox() *newsbox {
	return &newsbox{pending: make(map[string]News), wake: make(chan struct{}, 1)}
}

// note takes news. It does not block.
func (b *newsbox) note(n News) {
	b.mu.Lock()
	old, waits := b.pending[n.Name]
	if !waits {
		b.order = append(b.order, n.Name)
	} else if n.Streams == nil && n.Up {
		n.Streams = old.Streams
	}
	b.pending[n.Name] = n
	b.mu.Unlock()
	b.signal()
}

// message takes a message about permission. It does not block.
func (b *newsbox) message(from string, m dcaa.PermissionMessage) {
	b.mu.Lock()
	if len(b.messages) < mostMessages {
		b.messages = append(b.messages, permissionFrom{from, m})
	}
	b.mu.Unlock()
	b.signal()
}

func (b *newsbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *newsbox) take() (news []News, messages []permissionFrom) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.order {
		news = append(news, b.pending[name])
	}
	clear(b.pending)
	messages = b.messages
	b.order, b.messages = nil, nil
	return news, messages
}

// hear hands news to the core.
func (r *Runner) hear() {
	news, messages := r.news.take()
	now := r.now()
	for _, n := range news {
		for _, in := range r.inputs {
			for k, name := range in.producers {
				if name != n.Name {
					continue
				}
				r.core.Reachable(now, in.n, k, n.Up)
				r.core.Measured(in.n, k, n.RTT.Microseconds())
				if s, ok := n.Streams[in.stream]; ok {
					r.core.Heard(now, in.n, k, s)
				}
			}
		}
		for k, name := range r.cfg.Peers {
			if name != n.Name {
				continue
			}
			r.core.PeerReachable(now, k, n.Up)
			if s, ok := n.Streams[r.outputs[0].Name()]; ok {
				r.core.PeerHeard(now, k, s)
			}
		}
	}
	for _, m := range messages {
		r.core.PeerMessage(now, m.from, m.m)
	}
}
