package sim

import (
	"fmt"
	"math/rand/v2"

	"fednode/contracts"
	"fednode/mpa"
)

// world is the participants of a run with the network between them.
type world struct {
	cfg      *Config
	now      mpa.Instant
	queue    queue
	nodes    []*mpa.Machine
	index    map[mpa.Party]int32
	woken    []mpa.Instant // when each is woken next
	random   *rand.Rand    // of the network
	messages int
	moves    []Move
	lastMove mpa.Instant
	observe  func(Move)
}

// migration is a task on its way.
type migration struct {
	mpa.Migration
	from int32
}

// Move is a task that went from one participant to another.
type Move struct {
	At       mpa.Instant
	From, To int32
	Task     mpa.TaskID
	Load     float64
	Price    contracts.Price
	Return   bool
}

func party(n int) mpa.Party { return mpa.Party(fmt.Sprintf("n%d", n)) }

// act does what a participant wants after an event, and has it woken when it is due.
func (w *world) act(n int32) {
	m := w.nodes[n]
	effects := m.Ready()
	for _, e := range effects.Send {
		w.messages++
		if w.cfg.Loss > 0 && w.random.Float64() < w.cfg.Loss {
			continue
		}
		w.queue.push(event{at: w.now.Add(w.delay()), kind: deliver, node: w.index[e.To], from: n, msg: e.Message})
	}
	for _, g := range effects.Migrate {
		w.queue.push(event{at: w.now.Add(w.cfg.migration()), kind: arrive, node: w.index[g.To], from: n, move: &migration{g, n}})
	}
	if due := m.Due(); due != w.woken[n] {
		w.woken[n] = due
		if due != mpa.Never {
			w.queue.push(event{at: due, kind: wake, node: n})
		}
	}
}

// delay is how long a message takes.
func (w *world) delay() int64 {
	return w.cfg.MinDelay + w.random.Int64N(w.cfg.MaxDelay-w.cfg.MinDelay+1)
}

// step handles the next event.
func (w *world) step() {
	e := w.queue.pop()
	w.now = e.at
	switch e.kind {
	case wake:
		if w.woken[e.node] != e.at {
			return // it was put off, or called earlier
		}
		w.woken[e.node] = mpa.Never
		w.nodes[e.node].Tick(w.now)
	case deliver:
		w.nodes[e.node].Receive(w.now, party(int(e.from)), e.msg)
	case arrive:
		w.migrate(e)
		return
	}
	w.act(e.node)
}

// migrate ends a migration: the task runs at its target, or stays where it was if it is not expected there any more.
func (w *world) migrate(e event) {
	moved := w.nodes[e.node].Arrived(w.now, e.move.Task)
	w.act(e.node)
	w.nodes[e.from].Left(w.now, e.move.Task, moved)
	w.act(e.from)
	if moved {
		w.lastMove = w.now
		w.moves = append(w.moves, Move{At: w.now, From: e.from, To: e.node, Task: e.move.Task, Load: e.move.Load, Price: e.move.Price, Return: e.move.Return})
	}
}
