package fragment

import (
	"sync"

	"fednode/dcaa"
	"fednode/node/flow"
)

// newsbox collects news of other nodes, and what they say about permission, until the run loop takes them.
type newsbox struct {
	*flow.NewsBox
	mu       sync.Mutex
	messages []permissionFrom
}

type permissionFrom struct {
	from string
	m    dcaa.PermissionMessage
}

// mostMessages bounds what waits; messages may be lost, and are repeated.
const mostMessages = 256

func newNewsbox() *newsbox { return &newsbox{NewsBox: flow.NewNewsBox()} }

// message takes a message about permission. It does not block.
func (b *newsbox) message(from string, m dcaa.PermissionMessage) {
	b.mu.Lock()
	if len(b.messages) < mostMessages {
		b.messages = append(b.messages, permissionFrom{from, m})
	}
	b.mu.Unlock()
	b.Signal()
}

// said returns the messages that have come since the last time.
func (b *newsbox) said() []permissionFrom {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages = nil
	return messages
}

// hear hands news to the core.
func (r *Runner) hear() {
	now := r.now()
	for _, n := range r.news.Take() {
		for _, in := range r.inputs {
			for k, name := range in.producers {
				if name != n.Name {
					continue
				}
				if n.Anew {
					r.core.Reachable(now, in.n, k, false)
				}
				r.core.Reachable(now, in.n, k, n.Up)
				r.core.Measured(in.n, k, n.Way)
				if s, ok := n.Of(in.stream); ok {
					r.core.Heard(now, in.n, k, s)
				}
			}
		}
		for k, name := range r.cfg.Peers {
			if name != n.Name {
				continue
			}
			if n.Anew {
				r.core.PeerReachable(now, k, false)
			}
			r.core.PeerReachable(now, k, n.Up)
			for o, out := range r.outputs {
				if s, ok := n.Of(out.Name()); ok {
					r.core.PeerHeard(now, k, o, s)
				}
			}
		}
	}
	for _, name := range r.news.Accepted() {
		r.core.Accept(now, name)
	}
	for _, m := range r.news.said() {
		r.core.PeerMessage(now, m.from, m.m)
	}
}
