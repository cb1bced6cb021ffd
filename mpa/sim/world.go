package sim

import (
	"math/rand/v2"
	"strconv"

	"fednode/contracts"
	"fednode/mpa"
)

// world is the participants of a run with the network between them.
type world struct {
	cfg   *Config
	cost  mpa.Cost
	price float64 // the highest, of a unit of load
	level float64 // above it a participant is overloaded

	now   mpa.Instant
	end   mpa.Instant
	queue queue
	nodes []*mpa.Machine
	names []mpa.Party
	index map[mpa.Party]int32
	woken []mpa.Instant // when each is woken next; what the queue holds for another moment is void

	network   *rand.Rand
	readings  *rand.Rand
	variation *variation
	edges     []Edge
	tasks     [][]float64 // sizes of each node's own, without variation

	observer  Observer
	messages  int
	moves     int
	returns   int
	lastMove  mpa.Instant
	pricePaid float64 // sum of price·load over moves
	loadMoved float64
}

// migration is a task on its way.
type migration struct {
	mpa.Migration
	from int32
}

func party(n int) mpa.Party { return mpa.Party("n" + strconv.Itoa(n)) }

// act does what a participant wants after an event, and has it woken when it is due.
func (w *world) act(n int32) {
	effects := w.nodes[n].Ready()
	for _, d := range effects.Decisions {
		w.observer.Decided(int(n), d)
	}
	for _, e := range effects.Send {
		w.messages++
		if w.cfg.Loss > 0 && w.network.Float64() < w.cfg.Loss {
			continue
		}
		w.queue.push(event{at: w.now.Add(w.delay()), kind: deliver, node: w.index[e.To], from: n, msg: &e.Message})
	}
	for _, g := range effects.Migrate {
		w.queue.push(event{at: w.now.Add(w.cfg.Migration), kind: arrive, node: w.index[g.To], from: n, move: &migration{g, n}})
	}
	if due := w.nodes[n].Due(); due != w.woken[n] {
		w.woken[n] = due
		if due != mpa.Never {
			w.queue.push(event{at: due, kind: wake, node: n})
		}
	}
}

// delay is how long a message takes.
func (w *world) delay() int64 {
	return w.cfg.MinDelay + w.network.Int64N(w.cfg.MaxDelay-w.cfg.MinDelay+1)
}

// step handles the next event.
func (w *world) step() error {
	e := w.queue.pop()
	w.now = e.at
	switch e.kind {
	case wake:
		if w.woken[e.node] != e.at {
			return nil
		}
		w.woken[e.node] = mpa.Never
		w.nodes[e.node].Tick(w.now)
		w.act(e.node)
	case deliver:
		w.nodes[e.node].Receive(w.now, w.names[e.from], *e.msg)
		w.act(e.node)
	case arrive:
		w.migrate(e)
	case vary:
		return w.vary()
	case sample:
		w.observer.Sampled(w.sample())
		w.queue.push(event{at: w.now.Add(second), kind: sample})
	}
	return nil
}

// migrate ends a migration: the task runs at its target, or stays where it was if it is not expected there any more.
func (w *world) migrate(e event) {
	worth, moved := w.nodes[e.node].Arrived(w.now, e.move.Task)
	w.act(e.node)
	w.nodes[e.from].Left(w.now, e.move.Task, moved)
	w.act(e.from)
	if !moved {
		return
	}
	w.lastMove = w.now
	w.moves++
	if e.move.Return {
		w.returns++
	}
	w.loadMoved += e.move.Load
	w.pricePaid += e.move.Load * float64(e.move.Price)
	w.observer.Moved(Move{At: w.now, From: int(e.from), To: int(e.node), Task: e.move.Task, Load: e.move.Load, Price: e.move.Price,
		Return: e.move.Return, Giver: e.move.Worth, Taker: worth})
}

// vary changes the loads and has every participant read them.
func (w *world) vary() error {
	w.variation.advance(w.now)
	for n, m := range w.nodes {
		noise := 1.0
		if w.cfg.Vary.Noise > 0 && m.Load() > 0 {
			noise = max(0.01, 1+w.cfg.Vary.Noise*w.cfg.TaskMax*w.readings.NormFloat64()/m.Load())
		}
		err := m.MeasuredAll(w.now, func(id mpa.TaskID, _ float64) float64 {
			owner := w.index[id.Owner]
			return w.tasks[owner][id.Number] * w.variation.factor[owner] * noise
		})
		if err != nil {
			return err
		}
		w.act(int32(n))
		if w.cfg.Vary.Kind != Constant {
			m.OwnLoad(w.now, w.own(n))
			w.act(int32(n))
		}
	}
	w.queue.push(event{at: w.now.Add(second), kind: vary})
	return nil
}

// own is the load of a node's own clients.
func (w *world) own(n int) float64 {
	sum := 0.0
	for _, size := range w.tasks[n] {
		sum += size
	}
	return sum * w.variation.factor[n]
}

// Move is a task that went from one participant to another.
type Move struct {
	At       mpa.Instant
	From, To int
	Task     mpa.TaskID
	Load     float64
	Price    contracts.Price
	Return   bool
	// Giver and Taker are what the task costs each, as it counted when the move was decided.
	Giver, Taker mpa.Worth
}
