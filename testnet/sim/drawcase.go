package sim

import (
	"math/rand/v2"

	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// DrawCase draws the federation of a seed, and what goes wrong in it.
func DrawCase(seed uint64) (Case, error) {
	r := rand.New(rand.NewPCG(seed, 0x73706563))
	s := drawSpec(r)
	s.Redo = drawRedo(seed)
	if s.Consistency == topology.Eventual && drawBestEffort(seed) {
		s.Consistency, s.Redo = topology.BestEffort, topology.RedoFork
		// Rows in no order at all let boundaries stall in calm, beyond the bound now and then: results would begin anew for ever.
		s.Disorder = min(s.Disorder, s.MaxDelay/4)
	}
	if s.Shape == topology.Chain && s.Fragments > 1 {
		if s.Shape = drawChain(seed); s.Shape != topology.Chain {
			s.Sources = max(2, s.Sources)
		}
	}
	return drawFaults(r, Case{Seed: seed, Spec: s})
}

// drawRedo draws how replicas redo: one federation in three undoes. It takes nothing from the draws of the rest.
func drawRedo(seed uint64) string {
	if rand.New(rand.NewPCG(seed, 0x7265646f)).IntN(3) == 0 {
		return topology.RedoUndo
	}
	return topology.RedoFork
}

// bestEffortEvery is how many federations there are to one whose query is best effort.
const bestEffortEvery = 12

// drawBestEffort draws whether what was tentative stays so. It takes nothing from the draws of the rest.
func drawBestEffort(seed uint64) bool {
	return rand.New(rand.NewPCG(seed, 0x62657374)).IntN(bestEffortEvery) == 0
}

// halvedEvery is how many chains there are to one of each kind that half of the sources enter half way.
const halvedEvery = 10

// drawChain draws of which kind a chain is. It takes nothing from the draws of the rest.
func drawChain(seed uint64) topology.Shape {
	switch rand.New(rand.NewPCG(seed, 0x71756572)).IntN(halvedEvery) {
	case 0:
		return topology.Queries
	case 1:
		return topology.Uneven
	}
	return topology.Chain
}

// DrawFaults draws what goes wrong in a given federation.
func DrawFaults(seed uint64, s topology.Spec) (Case, error) {
	return drawFaults(rand.New(rand.NewPCG(seed, 0x706c616e)), Case{Seed: seed, Spec: s})
}

func drawFaults(r *rand.Rand, c Case) (Case, error) {
	t, err := topology.Build(c.Spec)
	if err != nil {
		return c, err
	}
	c.Faults = fault.Draw(r, field(t))
	return c, nil
}

// drawSpec draws a federation: mostly chains of two to four with two replicas, and some of everything else.
func drawSpec(r *rand.Rand) topology.Spec {
	s := topology.Default()
	s.Trouble = 20*tuple.Second + r.Int64N(40*tuple.Second)
	s.Fragments = 1 + r.IntN(4)
	switch r.IntN(9) {
	case 0:
		s.Fragments = 5 + r.IntN(4)
	case 1:
		s.Shape, s.Fragments = topology.Diamond, 4+r.IntN(2)
	case 2:
		s.Shape, s.Fragments = topology.Join, 3+r.IntN(2)
	case 3:
		s.Shape, s.Fragments = topology.Lanes, 2+r.IntN(2)
	}
	s.Replicas = []int{1, 2, 2, 2, 2, 3}[r.IntN(6)]
	s.Sources = 1 + r.IntN(4)
	if s.Shape == topology.Join || s.Shape == topology.Lanes {
		s.Sources = max(2, s.Sources)
	}
	if r.IntN(3) == 0 {
		s.Work = topology.Windows
		s.Window = []int64{500, 1000, 5000}[r.IntN(3)] * tuple.Millisecond
	}
	s.Failure = []string{"delay", "delay", "process"}[r.IntN(3)]
	s.Stabilization = []string{"process", "process", "delay"}[r.IntN(3)]
	switch r.IntN(24) {
	case 0:
		s.Failure, s.Stabilization = "suspend", "suspend"
	case 1:
		s.Consistency = topology.StableOnly
	}
	s.MaxDelay = []int64{1500, 2000, 3000, 3000}[r.IntN(4)] * tuple.Millisecond
	if r.IntN(4) == 0 {
		s.Slack = r.Int64N(3 * tuple.Second)
		s.Disorder = r.Int64N(s.Slack + 1)
	}
	if r.IntN(4) == 0 {
		s.Lag = r.Int64N(2 * tuple.Second)
	}
	s.Latency = []int64{200, 2000, 2000, 15000}[r.IntN(4)]
	s.Jitter = r.Int64N(s.Latency + 1)
	if r.IntN(3) == 0 {
		s.SliceRows = []int64{1, 8, 64}[r.IntN(3)]
	}
	if r.IntN(3) == 0 {
		s.ForgetAfter = []int64{1, 4, 10}[r.IntN(3)] * tuple.Second
	}
	s.PointInterval = []int64{1, 5, 5, 15}[r.IntN(4)] * tuple.Second
	return s
}

// field says what faults can hit in a federation.
func field(t *topology.Topology) fault.Field {
	f := fault.Field{Client: t.Nodes[t.Client()].Name, Keep: t.Spec.ForgetAfter < tuple.Minute && t.Spec.Losses == topology.NoLosses, Begin: t.Spec.Calm, End: t.Spec.Calm + t.Spec.Trouble}
	for i := range t.Fragments {
		var names []string
		for _, id := range t.ReplicasOf(i) {
			names = append(names, t.Nodes[id].Name)
		}
		f.Fragments = append(f.Fragments, names)
	}
	for a := range t.Nodes {
		if t.Nodes[a].Role == topology.Source {
			f.Sources = append(f.Sources, t.Nodes[a].Name)
		}
		for _, b := range t.Nodes[a].Peers {
			if a < int(b) {
				f.Links = append(f.Links, [2]string{t.Nodes[a].Name, t.Nodes[b].Name})
			}
		}
	}
	return f
}
