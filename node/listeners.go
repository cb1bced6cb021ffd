package node

import (
	"slices"
	"sync"

	"fednode/node/flow"
)

// listeners are who wants news of which nodes.
type listeners struct {
	mu   sync.Mutex
	next int
	list map[int]listener
}

type listener struct {
	names []string
	note  func(flow.News)
}

// add calls note with news of the named nodes until the returned stop has returned.
func (l *listeners) add(names []string, note func(flow.News)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		l.list = make(map[int]listener)
	}
	id := l.next
	l.next++
	l.list[id] = listener{names, note}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.list, id)
	}
}

// names returns all that anybody wants news of.
func (l *listeners) names() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[string]bool)
	for _, w := range l.list {
		for _, n := range w.names {
			out[n] = true
		}
	}
	return out
}

// tell spreads news. note does not block.
func (l *listeners) tell(n flow.News) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.list {
		if slices.Contains(w.names, n.Name) {
			w.note(n)
		}
	}
}
