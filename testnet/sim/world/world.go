package world

import (
	"math/rand/v2"

	"fednode/query/tuple"
)

// Config of a world. Durations are microseconds.
type Config struct {
	Seed  uint64
	Nodes int
	// NewProgram makes the program of a node's next life; lives count from 1.
	NewProgram func(id NodeID, life uint64) Program
	// Script is called back by At.
	Script Script
	// DiskLatency is what a commit takes on average.
	DiskLatency int64
	// Drift is the most that clocks differ in their rate, in parts per million.
	Drift int64
	// Retransmit is the longest pause before something lost is sent again.
	Retransmit int64
	// DialTimeout is how long a dial waits for an answer.
	DialTimeout int64
}

// Default returns a configuration with everything but the nodes and their programs.
func Default() Config {
	return Config{DiskLatency: 2000, Drift: 50, Retransmit: 400_000, DialTimeout: 1_000_000}
}

// Script is what happens to a world from outside: faults, checks, the end.
type Script interface {
	// Act is called at the time given to At, with its number.
	Act(number uint32)
}

// World is one simulated set of nodes. It belongs to one goroutine.
type World struct {
	// Rand is the only source of chance of a run.
	Rand *rand.Rand
	// Steps counts the calls of programs.
	Steps uint64

	cfg      Config
	now      int64
	current  NodeID // whose program runs, or ran last
	queue    queue
	pool     pool
	nodes    []node
	links    []link // by from·n + to
	pairs    []pair // by lower·n + higher
	outgoing []leaving
	stopped  bool
	scratch  Message
}

// New returns a world in which every node is down and every link perfect.
func New(cfg Config) *World {
	n := cfg.Nodes
	w := &World{
		Rand: rand.New(rand.NewPCG(cfg.Seed, 0x73696d)), cfg: cfg,
		nodes: make([]node, n), links: make([]link, n*n), pairs: make([]pair, n*n),
	}
	for i := range w.nodes {
		w.nodes[i].slow = healthy
		w.nodes[i].wakeAt = noWake
		w.nodes[i].clock = clock{base: w.Rand.Int64N(1 << 40), drift: w.Rand.Int64N(2*cfg.Drift+1) - cfg.Drift}
	}
	return w
}

// Now returns the world's time in microseconds, which no program may look at.
func (w *World) Now() int64 { return w.now }

// Current returns the node whose program runs.
func (w *World) Current() NodeID { return w.current }

// Local returns what the clock of the running node shows.
func (w *World) Local() tuple.Instant { return w.nodes[w.current].clock.read(w.now) }

// LocalOf returns what the clock of a node shows.
func (w *World) LocalOf(id NodeID) tuple.Instant { return w.nodes[id].clock.read(w.now) }

// At has Script.Act called with number at a world time, before anything else that is made for that moment later.
func (w *World) At(at int64, number uint32) {
	w.queue.push(event{at: max(at, w.now), kind: evCall, arg: number})
}

// Stop ends Run after the present event.
func (w *World) Stop() { w.stopped = true }

// Run goes on until the world's time is to, or Stop is called.
func (w *World) Run(to int64) {
	for !w.stopped && w.queue.len() > 0 && w.queue.heap[0].at <= to {
		e := w.queue.pop()
		w.now = e.at
		switch e.kind {
		case evArrive:
			w.receive(e.node, e.arg)
		case evWake:
			w.due(e.node, e.arg)
		case evReady:
			w.work(e.node)
		case evStored:
			w.stored(e.node, e.arg)
		case evDialEnd:
			w.dialEnd(e.node, e.arg)
		case evCall:
			w.cfg.Script.Act(e.arg)
		}
	}
	if !w.stopped {
		w.now = max(w.now, to)
	}
}

// As lets f act as if it were the running program of a node, from within Script.Act.
func (w *World) As(id NodeID, f func()) {
	if w.nodes[id].program == nil {
		return
	}
	w.current = id
	f()
	w.flush()
	w.rearm(id)
}
