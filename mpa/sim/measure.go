package sim

import (
	"fednode/contracts"
	"fednode/mpa"
)

func (w *world) total() float64 {
	sum := 0.0
	for _, m := range w.nodes {
		sum += m.Load()
	}
	return sum
}

// social is the sum of all costs, in units of money a second.
func (w *world) social() float64 {
	sum := 0.0
	for _, m := range w.nodes {
		sum += w.cost.At(m.Load())
	}
	return sum / contracts.Micro
}

func (w *world) state() (s State) {
	total := 0.0
	for _, m := range w.nodes {
		load := m.Load()
		total += load
		if load > w.level*(1+1e-9) {
			s.Overloaded++
			s.Excess += load - w.level
		}
	}
	if total > 0 {
		s.Excess /= total
	}
	return s
}

func (w *world) sample() Sample {
	s := w.state()
	out := Sample{At: w.now, Overloaded: s.Overloaded, Excess: s.Excess, Moves: w.moves, Messages: w.messages}
	if w.loadMoved > 0 {
		out.Price = w.pricePaid / w.loadMoved / w.price
	}
	return out
}

// acceptable reports whether nobody is overloaded, or nobody has room for a largest task.
func (w *world) acceptable() bool {
	overloaded, room := false, false
	for _, m := range w.nodes {
		if largest := m.Largest(); largest > 0 {
			overloaded = overloaded || mpa.Overloaded(w.cost, m.Load(), largest, w.price, w.cfg.Moving*w.price)
		}
		room = room || mpa.HasRoom(w.cost, m.Load(), w.cfg.TaskMax, w.price)
	}
	return !overloaded || !room
}
