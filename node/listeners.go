package node

import (
	"sync"

	"fednode/node/flow"
)

// listeners are who wants news of which nodes, by the name that they watch.
type listeners struct {
	mu   sync.Mutex
	next int
	of   map[string]map[int]func(flow.News)
}

// add calls note with news of the named nodes until the returned stop has returned.
func (l *listeners) add(names []string, note func(flow.News)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[string]map[int]func(flow.News))
	}
	id := l.next
	l.next++
	for _, name := range names {
		if l.of[name] == nil {
			l.of[name] = make(map[int]func(flow.News))
		}
		l.of[name][id] = note
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, name := range names {
			if delete(l.of[name], id); len(l.of[name]) == 0 {
				delete(l.of, name)
			}
		}
	}
}

// heard reports whether anybody wants news of a name.
func (l *listeners) heard(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.of[name]) > 0
}

// tell spreads news. note does not block.
func (l *listeners) tell(n flow.News) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, note := range l.of[n.Name] {
		note(n)
	}
}
