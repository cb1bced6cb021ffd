package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"fednode/contracts"
	"fednode/mpa"
)

// Result is what a run came to.
type Result struct {
	Nodes int
	Edges int
	// TotalLoad is all load, Capacity the load of all nodes at which one more unit costs the highest price.
	TotalLoad, Capacity float64
	Initial, Final      State
	Acceptable          bool
	Moves, Returns      int
	Messages            int
	// LastMove is when the last task arrived; 0 if none moved.
	LastMove mpa.Instant
	End      mpa.Instant
	Social   Social
	Seed     uint64
	Samples  []Sample
}

// State is how many participants are above their level, and the load above it as a share of all load.
type State struct {
	Overloaded int
	Excess     float64
}

// Social is the sum of all costs in units of money a second: at the beginning, at the end, and at the least possible, if
// load could be divided at will.
type Social struct{ Initial, Final, Optimum float64 }

// Run makes a run. It depends on the configuration alone.
func Run(cfg Config, o Observer) (*Result, error) {
	w, err := newWorld(&cfg, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Nodes: cfg.Nodes, Edges: len(w.edges), Capacity: cfg.Full * float64(cfg.Nodes), Initial: w.state(), Seed: cfg.Seed}
	r.TotalLoad, r.Social.Initial = w.total(), w.social()
	keep := &keeper{Observer: o}
	w.observer = keep
	for n := range w.nodes {
		w.act(int32(n))
	}
	for !w.queue.empty() && w.queue.list[0].at <= w.end {
		sampled := len(keep.samples)
		if err := w.step(); err != nil {
			return nil, err
		}
		if len(keep.samples) != sampled && (o.Stop() || w.rests()) {
			break
		}
	}
	r.Final, r.Acceptable = w.state(), w.acceptable()
	r.Moves, r.Returns, r.Messages, r.LastMove, r.End = w.moves, w.returns, w.messages, w.lastMove, min(w.now, w.end)
	total := w.total()
	r.Social.Final, r.Social.Optimum = w.social(), float64(cfg.Nodes)*w.cost.At(total/float64(cfg.Nodes))/contracts.Micro
	r.Samples = keep.samples
	return r, nil
}

// keeper keeps the samples of a run.
type keeper struct {
	Observer
	samples []Sample
}

func (k *keeper) Sampled(s Sample) {
	k.samples = append(k.samples, s)
	k.Observer.Sampled(s)
}

func newWorld(cfg *Config, o Observer) (*world, error) {
	if problems := cfg.Validate(); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	cost, err := cfg.Cost.function()
	if err != nil {
		return nil, err
	}
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(cfg.Seed, n)) }
	w := &world{
		cfg: cfg, cost: cost, price: cost.Slope(cfg.Full), end: mpa.Instant(cfg.Duration), index: make(map[mpa.Party]int32, cfg.Nodes),
		network: stream(1), readings: stream(2), variation: newVariation(cfg.Vary, cfg.Nodes, stream(3)), observer: o,
	}
	w.level = mpa.OverloadLevel(cost, cfg.TaskMax, w.price, cfg.Moving*w.price)
	if w.edges, err = cfg.edges(stream(4)); err != nil {
		return nil, err
	}
	w.tasks = cfg.tasks(stream(5))
	if err := w.populate(stream(6)); err != nil {
		return nil, err
	}
	w.begin()
	return w, nil
}

// populate makes the participants, their tasks and contracts.
func (w *world) populate(random *rand.Rand) error {
	for i := range w.cfg.Nodes {
		name := party(i)
		m, err := mpa.New(mpa.Config{
			Self: name, Cost: w.cost, Moving: w.cfg.Moving * w.price, Margin: w.cfg.Margin * w.price, Hysteresis: w.cfg.Hysteresis,
			Seed: random.Uint64(), Settings: w.cfg.Settings, Explain: w.cfg.Explain,
		}, 0)
		if err != nil {
			return err
		}
		w.names, w.nodes, w.woken = append(w.names, name), append(w.nodes, m), append(w.woken, mpa.Never)
		w.index[name] = int32(i)
		if err := m.AddTasks(0, w.tasks[i]); err != nil {
			return err
		}
	}
	for k, e := range w.edges {
		low, high := w.prices(e)
		c := mpa.Contract{ID: mpa.ContractID(fmt.Sprintf("c%d", k)), Min: low, Max: high, Give: true, Take: true, MaxLoad: math.Inf(1), MaxTask: math.Inf(1)}
		for _, end := range [][2]int{{e.A, e.B}, {e.B, e.A}} {
			c.Partner = w.names[end[1]]
			if err := w.nodes[end[0]].SetContract(0, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// prices returns the range of a contract.
func (w *world) prices(e Edge) (low, high contracts.Price) {
	if e.Max > 0 {
		return contracts.Price(math.Round(e.Min * w.price)), contracts.Price(math.Round(e.Max * w.price))
	}
	return contracts.Price(math.Round((1 - w.cfg.Range) * w.price)), contracts.Price(math.Round(w.price))
}

func (w *world) begin() {
	loads := make([]float64, len(w.nodes))
	for i, m := range w.nodes {
		loads[i] = m.Load()
	}
	edges := make([]Edge, len(w.edges))
	for i, e := range w.edges {
		low, high := w.prices(e)
		edges[i] = Edge{A: e.A, B: e.B, Min: float64(low) / w.price, Max: float64(high) / w.price}
	}
	w.observer.Began(Beginning{Level: w.level, Price: w.price / contracts.Micro, Loads: loads, Edges: edges})
	w.queue.push(event{at: 0, kind: sample})
	if w.cfg.Vary.varies() {
		w.queue.push(event{at: second, kind: vary})
	}
}

// rests reports whether nothing but samples will come: then nothing changes any more.
func (w *world) rests() bool {
	if w.cfg.Vary.varies() {
		return false
	}
	for i := range w.queue.list {
		if e := &w.queue.list[i]; e.kind != sample && (e.kind != wake || w.woken[e.node] == e.at) {
			return false
		}
	}
	return true
}
