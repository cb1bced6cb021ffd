package relay

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Way is one direction between two nodes, by their numbers.
type Way struct{ From, To int }

// Outside is the number of whoever is no node of the network: its ways are always good.
const Outside = -1

// State is how a way is. The zero value is a good one.
type State struct {
	// Cut lets nothing through.
	Cut bool
	// Delay is added to everything, Jitter up to as much more.
	Delay, Jitter time.Duration
	// Loss is the share of packets that are lost, 0 to 1.
	Loss float64
}

// wait draws how long something that is sent now takes.
func (s *State) wait() time.Duration {
	if s.Jitter <= 0 {
		return s.Delay
	}
	return s.Delay + rand.N(s.Jitter)
}

// Table has the state of every way. The zero value is ready, and all ways are good.
type Table struct {
	mu      sync.Mutex
	states  map[Way]State
	changed chan struct{} // closed at the next change; nil while nobody waits
}

// Set replaces all states; ways that are not named become good.
func (t *Table) Set(states map[Way]State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.states = states
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// Get returns the state of a way.
func (t *Table) Get(w Way) State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.states[w]
}

// get also returns a channel that is closed when something changes.
func (t *Table) get(w Way) (State, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.states[w], t.changed
}

// open waits until a way is not cut; false if done is closed before.
func (t *Table) open(w Way, done <-chan struct{}) bool {
	for {
		s, changed := t.get(w)
		if !s.Cut {
			return true
		}
		select {
		case <-changed:
		case <-done:
			return false
		}
	}
}
