package sim

import (
	"fmt"
	"math"
	"math/rand/v2"

	"fednode/mpa/balance"
)

// Move is a unit that went from a node to another.
type Move struct {
	From, To int
	// Usage is the unit's at From, in percent.
	Usage float64
	// Failed: From has died.
	Failed bool
	// Why is the decision, in one line.
	Why string
}

// Round is what nodes are at after a round, in percent, and what moved in it. Still is what they would be at had nothing
// ever moved.
type Round struct {
	Usage, Still []float64
	Moved        []Move
	// Kept are the nodes over the trigger that could not give anything, each with its reason.
	Kept []string
}

// Result is what a run came to.
type Result struct {
	Initial []float64
	Rounds  []Round
	// RestAfter is the last round in which something moved, 0 if nothing did; -1 if that is the last round of the run, so that
	// it is not known whether it is at rest.
	RestAfter int
	// Out is the round from which a node does not count, for those that fail, and 0 for those that cannot be reached.
	Out map[int]int
	// Moves are those that the migrator decided, not those for dead nodes.
	Moves int
}

// world is a run under way.
type world struct {
	cfg     *Config
	b       *balance.Balancer
	names   []balance.NodeID
	index   map[balance.NodeID]int
	units   []simUnit
	byName  map[balance.UnitID]int
	dead    []bool
	absent  []bool
	vary    *variation
	present []float64 // load of each unit now, in percent of a usual node
}

type simUnit struct {
	id         balance.UnitID
	load       float64
	origin, on int
}

// stopped is asked between rounds; a run that is told to stop returns what it has.
type stopped = func() bool

// Run runs a balancer; stop may be nil.
func Run(cfg Config, stop stopped) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w, err := newWorld(&cfg)
	if err != nil {
		return nil, err
	}
	r := &Result{Initial: w.usage(false), Out: make(map[int]int)}
	for _, f := range cfg.Fail {
		r.Out[f.Node] = f.Round
	}
	for _, i := range cfg.Unreachable {
		r.Out[i] = 0
	}
	for range cfg.Balance.Readings { // what is there at the start has been so for a while
		if err := w.report(); err != nil {
			return nil, err
		}
	}
	for round := 1; round <= cfg.Rounds && (stop == nil || !stop()); round++ {
		one, err := w.round(round)
		if err != nil {
			return nil, err
		}
		r.Rounds = append(r.Rounds, one)
		for _, m := range one.Moved {
			if !m.Failed {
				r.Moves++
			}
			r.RestAfter = round
		}
	}
	if r.RestAfter == cfg.Rounds {
		r.RestAfter = -1
	}
	return r, nil
}

func newWorld(cfg *Config) (*world, error) {
	settings := cfg.Balance
	settings.Random = rand.New(rand.NewPCG(cfg.Seed, 1))
	b, err := balance.New(settings)
	if err != nil {
		return nil, err
	}
	n := len(cfg.Usage)
	w := &world{cfg: cfg, b: b, index: make(map[balance.NodeID]int), byName: make(map[balance.UnitID]int), dead: make([]bool, n), absent: make([]bool, n),
		vary: newVariation(cfg.Vary, n, rand.New(rand.NewPCG(cfg.Seed, 2)))}
	for _, i := range cfg.Unreachable {
		w.absent[i] = true
	}
	digits := len(fmt.Sprint(n - 1))
	for i := range n {
		id := balance.NodeID(fmt.Sprintf("n%0*d", digits, i)) // so that names are in the order of numbers
		w.names, w.index[id] = append(w.names, id), i
		unbounded := math.Inf(1)
		full := 100 * cfg.capacity(i)
		if err := b.Join(balance.Node{ID: id, Capacity: balance.Capacity{full, unbounded, unbounded, unbounded}, Weight: 1}); err != nil {
			return nil, err
		}
		for left, k := cfg.Usage[i]*cfg.capacity(i), 0; left > 1e-9; k++ {
			load := min(left, cfg.unit(i))
			if err := w.add(load, i, k); err != nil {
				return nil, err
			}
			left -= load
		}
	}
	return w, nil
}

func (w *world) add(load float64, node, k int) error {
	id := balance.UnitID(fmt.Sprintf("%s.%04d", w.names[node], k))
	w.byName[id] = len(w.units)
	w.units = append(w.units, simUnit{id: id, load: load, origin: node, on: node})
	w.present = append(w.present, load)
	return w.b.Adopt(balance.Unit{ID: id, Expected: loadOf(load)}, w.names[node])
}

// loadOf is a unit's load: so many hundredths of a usual node, and as many messages a second.
func loadOf(v float64) balance.Load { return balance.Load{balance.CPU: v, balance.Messages: v} }

// report lets every node that can be heard say what its units use.
func (w *world) report() error {
	readings := make([][]balance.Reading, len(w.names))
	for i := range w.units {
		u := &w.units[i]
		readings[u.on] = append(readings[u.on], balance.Reading{Unit: u.id, Load: loadOf(w.present[i])})
	}
	for i, name := range w.names {
		if w.dead[i] || w.absent[i] {
			continue
		}
		if err := w.b.Report(name, readings[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) round(round int) (Round, error) {
	var r Round
	for _, f := range w.cfg.Fail {
		if f.Round == round {
			w.dead[f.Node] = true
			list, err := w.b.Fail(w.names[f.Node])
			if err != nil {
				return r, err
			}
			w.follow(list, &r)
		}
	}
	if w.cfg.Vary.Varies() {
		w.vary.advance()
		for i := range w.units {
			w.present[i] = w.units[i].load * w.vary.factor(w.units[i].origin)
		}
	}
	if err := w.report(); err != nil {
		return r, err
	}
	w.follow(w.b.Round(), &r)
	r.Usage, r.Still = w.usage(false), w.usage(true)
	return r, nil
}

// follow does what has been decided.
func (w *world) follow(list []balance.Decision, r *Round) {
	for _, d := range list {
		switch d.Kind {
		case balance.Keeps, balance.Waits:
			r.Kept = append(r.Kept, d.String())
		case balance.Moves, balance.Replaces, balance.Places:
			i := w.byName[d.Unit]
			from, to := w.units[i].on, w.index[d.To]
			w.units[i].on = to
			r.Moved = append(r.Moved, Move{From: from, To: to, Usage: tidy(w.present[i] / w.cfg.capacity(from)), Failed: d.Kind != balance.Moves, Why: d.String()})
		}
	}
}

// usage is what each node is at, in percent; still counts units where they began.
func (w *world) usage(still bool) []float64 {
	sum := make([]float64, len(w.names))
	for i := range w.units {
		u := &w.units[i]
		on := u.on
		if still {
			on = u.origin
		}
		sum[on] += w.present[i]
	}
	for i := range sum {
		sum[i] = tidy(sum[i] / w.cfg.capacity(i))
	}
	return sum
}

// tidy rounds what sums of decimal fractions leave behind.
func tidy(v float64) float64 { return math.Round(v*1e9) / 1e9 }
