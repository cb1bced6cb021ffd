package node

import "sync"

// worklist holds the queries that the run loop has to look at. A query stands in it once however often it has changed:
// what counts is its newest descriptor. So the list is never longer than there are queries, and nothing is dropped.
type worklist struct {
	ready chan struct{} // capacity 1: there is something

	mu   sync.Mutex
	ids  []string // in the order in which they came
	held map[string]bool
}

func newWorklist() *worklist {
	return &worklist{ready: make(chan struct{}, 1), held: make(map[string]bool)}
}

// add puts a query into the list. It does not block.
func (w *worklist) add(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[id] {
		return
	}
	w.held[id] = true
	w.ids = append(w.ids, id)
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// take empties the list.
func (w *worklist) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := w.ids
	w.ids = nil
	clear(w.held)
	return ids
}
