package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"fednode/contracts"
	"fednode/mpa"
)

type Config struct {
	Loss               float64
	MinDelay, MaxDelay int64
}

func (c *Config) migration() int64 { return 0 }

func TestQuick(t *testing.T) {
	if os.Getenv("QUICK") == "" {
		return
	}
	f := func(k string, d float64) float64 {
		if v, err := strconv.ParseFloat(os.Getenv(k), 64); err == nil {
			return v
		}
		return d
	}
	for _, c := range []int{1, 3, 10, 20} {
		for _, load := range []float64{.5, .8, .95, 1.05} {
			for _, rng := range []float64{0, .05, .1, .2} {
				if os.Getenv("ONLY") != "" && os.Getenv("ONLY") != fmt.Sprintf("%d/%g/%g", c, load, rng) {
					continue
				}
				quick(t, int(f("N", 995)), c, load, rng, uint64(f("SEED", 1)), f("DUR", 200))
			}
		}
	}
}

func quick(t *testing.T, n, c int, load, rng float64, seed uint64, dur float64) {
	start := time.Now()
	cfg := &Config{MinDelay: 10_000, MaxDelay: 110_000}
	r := rand.New(rand.NewPCG(seed, 1))
	w := &world{cfg: cfg, index: map[mpa.Party]int32{}, random: rand.New(rand.NewPCG(seed, 2)), woken: make([]mpa.Instant, n)}
	P := 25e6
	cost, _ := mpa.NewQueue(1, 1e6)
	const size = .01
	loads := make([]float64, n)
	sum := 0.0
	for i := range loads {
		loads[i] = r.ExpFloat64()
		sum += loads[i]
	}
	_ = 0
	moving := .002 * P
	level := mpa.OverloadLevel(cost, size, P, moving)
	for i := range n {
		m, err := mpa.New(mpa.Config{Self: party(i), Cost: cost, Moving: moving, Margin: .005 * P, Hysteresis: .02, Seed: r.Uint64(), Settings: mpa.DefaultSettings()}, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, m)
		w.index[party(i)] = int32(i)
		w.woken[i] = mpa.Never
		k := int(math.Round(loads[i] / sum * load * 0.8 * float64(n) / size))
		for j := range k {
			m.AddTask(0, uint32(j), size)
		}
	}
	deg := make([]int, n)
	has := map[[2]int]bool{}
	for i := range n {
		for deg[i] < c {
			j := r.IntN(n)
			if j == i || has[[2]int{min(i, j), max(i, j)}] {
				continue
			}
			has[[2]int{min(i, j), max(i, j)}] = true
			deg[i]++
			deg[j]++
			id := mpa.ContractID(fmt.Sprintf("c%d-%d", i, j))
			k := mpa.Contract{ID: id, Partner: party(j), Min: contracts.Price(P * (1 - rng)), Max: contracts.Price(P), Give: true, Take: true, MaxLoad: math.Inf(1), MaxTask: math.Inf(1)}
			w.nodes[i].SetContract(0, k)
			k.Partner = party(i)
			w.nodes[j].SetContract(0, k)
		}
	}
	excess := func() (x float64, over int) {
		tot := 0.0
		for _, m := range w.nodes {
			tot += m.Load()
			if m.Load() > level {
				x += m.Load() - level
				over++
			}
		}
		return 100 * x / tot, over
	}
	x0, o0 := excess()
	for i := range n {
		w.act(int32(i))
	}
	steps := 0
	for !w.queue.empty() && w.queue.list[0].at < mpa.Instant(dur*1e6) {
		w.step()
		steps++
	}
	x1, o1 := excess()
	ret := 0
	for _, m := range w.moves {
		if m.Return {
			ret++
		}
	}
	fmt.Printf("c=%d load=%g range=%g: excess %.2f (%d) -> %.3f (%d), moves %d returns %d messages %d last %.1f s, events %d, %v\n", c, load, rng, x0, o0, x1, o1, len(w.moves), ret, w.messages, float64(w.lastMove)/1e6, steps, time.Since(start).Round(time.Millisecond))
}
