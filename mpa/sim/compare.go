package sim

import (
	"fmt"
	"math"

	"fednode/contracts"
)

// Comparison is what three arrangements come to on the same loads.
type Comparison struct {
	// Alone: nobody helps anybody.
	Alone Outcome
	// Reserved: each sets aside SetAside of its level for its partners beforehand, in equal parts; nothing is passed on.
	Reserved Outcome
	SetAside float64
	// Idle is how much of what was set aside nobody used.
	Idle float64
	// Contracts: load moves along contracts by price.
	Contracts Outcome
	Run       *Result
}

// Outcome is the state that an arrangement comes to, and the sum of all costs in units of money a second.
type Outcome struct {
	State
	Social float64
}

// reservedSteps is how many shares to set aside are tried, up to everything.
const reservedSteps = 40

// Compare makes a run, and beside it looks at what its loads come to alone and with reserved capacity. Reserved capacity is
// looked at kindly: load can be divided at will, what is set aside is the share that would have been best for just these
// loads, and a participant uses what it has set aside until its partners claim it.
func Compare(cfg Config, o Observer) (*Comparison, error) {
	if cfg.Vary.varies() {
		return nil, fmt.Errorf("arrangements are compared on loads that stay as they are")
	}
	w, err := newWorld(&cfg, Silent{})
	if err != nil {
		return nil, err
	}
	out := &Comparison{Alone: Outcome{w.state(), w.social()}}
	out.Reserved.Excess = math.Inf(1)
	for step := range reservedSteps + 1 {
		share := float64(step) / reservedSteps
		if got, idle := w.reserve(share); got.Excess < out.Reserved.Excess-1e-12 {
			out.Reserved, out.SetAside, out.Idle = got, share, idle
		}
	}
	if out.Run, err = Run(cfg, o); err != nil {
		return nil, err
	}
	out.Contracts = Outcome{out.Run.Final, out.Run.Social.Final}
	return out, nil
}

// reserve returns what loads come to if each participant guarantees its partners a share of its level, in equal parts. It
// claims what its partners guarantee when its own load and what they claim do not fit. idle is the part of all that is set
// aside which nobody claims.
func (w *world) reserve(share float64) (out Outcome, idle float64) {
	partners := make([][]int, len(w.nodes))
	for _, e := range w.edges {
		partners[e.A], partners[e.B] = append(partners[e.A], e.B), append(partners[e.B], e.A)
	}
	guaranteed := func(p int) float64 { return share * w.level / float64(len(partners[p])) }
	claimed, hosted := make([]float64, len(w.nodes)), make([]float64, len(w.nodes))
	for range 1000 { // claims only grow, and are bounded
		changed := 0.0
		next := make([]float64, len(w.nodes))
		for i, m := range w.nodes {
			want, before := max(0, m.Load()+hosted[i]-w.level), claimed[i]
			claimed[i] = 0
			for _, p := range partners[i] {
				part := min(want, guaranteed(p))
				next[p], want, claimed[i] = next[p]+part, want-part, claimed[i]+part
			}
			changed = max(changed, claimed[i]-before)
		}
		if hosted = next; changed < 1e-9 {
			break
		}
	}
	total, aside, used := 0.0, 0.0, 0.0
	for i, m := range w.nodes {
		load := m.Load() - claimed[i] + hosted[i]
		total, used = total+load, used+hosted[i]
		if len(partners[i]) > 0 {
			aside += share * w.level
		}
		if load > w.level*(1+1e-9) {
			out.Overloaded++
			out.Excess += load - w.level
		}
		out.Social += w.cost.At(load) / contracts.Micro
	}
	if total > 0 {
		out.Excess /= total
	}
	if aside > 0 {
		idle = 1 - used/aside
	}
	return out, idle
}
