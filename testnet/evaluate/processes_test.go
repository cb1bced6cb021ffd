package evaluate

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/query"
	"fednode/testnet"
	"fednode/testnet/scenario"
)

// What the scenarios on real daemons are made of can be read: testnet, query and steps, at every rate.
func TestProcessFiles(t *testing.T) {
	for _, s := range append(setups(), chains()...) {
		for _, rate := range []int{processRate, processRateMany} {
			for _, k := range []cut{{setup: s, rate: rate, pair: delayProcess}, climbing(s)} {
				k.length = 5 * time.Second
				dir := t.TempDir()
				require.NoError(t, writeFiles(dir, k))
				spec, err := testnet.ReadSpec(filepath.Join(dir, "net.toml"))
				require.NoError(t, err)
				require.NoError(t, spec.Validate())
				require.Equal(t, k.rate, spec.Live)
				d, problems := query.Parse("watch.toml", []byte(processQuery(k)), query.Options{Connectors: bind.New(connectors.Kinds())})
				require.NoError(t, problems.Err())
				require.Len(t, d.Operators, max(1, s.nodes-1))
				c, err := scenario.Parse("cut.scenario", []byte(processScenario(k)))
				require.NoError(t, err)
				require.Equal(t, "net.toml", filepath.Base(c.Testnet))
				require.Len(t, c.Steps, 5)
			}
		}
	}
}

// Chains go from two nodes to four, without replicas and with, and each is there once.
func TestChains(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range append(setups(), chains()...) {
		require.False(t, names[s.name], s.name)
		names[s.name] = true
		require.Equal(t, cutsOf(s), strings.Count(s.fragments(), "[fragments."), s.name)
	}
	require.Len(t, names, 1+3*2)
}

// cutsOf is how many fragments the query of a setup declares: one for each node behind the first, where a testnet does not make them.
func cutsOf(s setup) int {
	if s.nodes <= 2 {
		return 0
	}
	return s.nodes - 1
}

// Failures are measured at the grid's rate and at 100 times that, or at the highest that was held.
func TestRatesOf(t *testing.T) {
	held := func(rates ...int) (list []Rate) {
		for _, r := range rates {
			list = append(list, Rate{Asked: r, Held: true})
		}
		return list
	}
	require.Equal(t, []int{processRate}, ratesOf([]Rate{{Asked: 5000}}))
	require.Equal(t, []int{processRate, 15_000}, ratesOf(append(held(5000, 15_000), Rate{Asked: 50_000})))
	require.Equal(t, []int{processRate, processRateMany}, ratesOf(held(5000, 150_000, 300_000)))
}

// held is a rate that was held in full, on a machine with two processors of which one was in use.
func heldRate(rows int) Rate {
	return Rate{Setup: "one node", Asked: rows, Written: rows, Taken: rows, Delay: 1_500_000, Held: true, All: 2, Machine: 1}
}

// A rate is held if it is written, taken in, and its results are neither late nor become later.
func TestJudge(t *testing.T) {
	for says, change := range map[string]func(r *Rate){
		"":                               func(*Rate) {},
		"89 rows/s were written":         func(r *Rate) { r.Written, r.Taken = 89, 89 },
		"94 of 100 rows/s were taken in": func(r *Rate) { r.Taken = 94 },
		"the delay grew by 0.50 s":       func(r *Rate) { r.Growth = 500_000 },
		"a result was 3.10 s late":       func(r *Rate) { r.Delay = 3_100_000 },
	} {
		r := heldRate(100)
		change(&r)
		r.judge()
		require.Equal(t, says, r.fails())
		require.Equal(t, says == "", r.Held)
	}
}

// What bounds a rate is the processors if hardly any of their time is left, and it is said whose time it was; else a fragment
// that works all the time, or what writes the sources.
func TestPeak(t *testing.T) {
	over := Rate{Setup: "one node", Asked: 15_000, Written: 15_000, Taken: 9000, All: 2, Machine: 1.9, Sources: 0.3, Others: 0.2, Testnet: 0.1,
		Daemons: []Daemon{{Name: "north-1", CPUs: 0.2, Fragments: []Working{{"hop2", 0.95}, {"all", 0.3}}}, {Name: "north-2", CPUs: 0.1}}}
	bound := func(change func(r *Rate)) string {
		r := over
		change(&r)
		return peakOf([]Rate{heldRate(5000), r}).String()
	}
	require.Equal(t, "one node: the highest rate held is 5000 rows/s a stream; what bounds it at 15000: the processors: 1.9 of 2 in use, 0.6 of them by the federation, "+
		"0.1 by the testnet and the most of a daemon, 0.20, by north-1 (hop2, all), the rest by other programs.", bound(func(*Rate) {}))
	require.Contains(t, bound(func(r *Rate) { r.Machine = 1.2 }), "at 15000: fragment hop2 at north-1, which worked 95 % of the time; 1.2 of 2 processors were in use.")
	idle := func(r *Rate) { r.Machine, r.Daemons = 1.2, over.Daemons[1:] }
	require.Contains(t, bound(idle), "at 15000: not the processors, of which 1.2 of 2 were in use, 0.1 by the testnet and the most of a daemon, 0.10, by north-2: what lies between")
	require.Contains(t, bound(func(r *Rate) { idle(r); r.Written = 9000 }), "at 15000: what writes the sources, or the disk that it writes to; 1.2 of 2 processors were in use.")
	require.Contains(t, peakOf([]Rate{heldRate(5000)}).String(), "the highest rate tried was held, 5000 rows/s a stream")
	require.Contains(t, peakOf([]Rate{over}).String(), "no rate was held")
	require.Nil(t, peakOf(nil))
}

// The middle that is tried last lies between what is held and what is not, whichever it turns out to be.
func TestPeakOfMiddle(t *testing.T) {
	over := func(rows int) Rate { r := heldRate(rows); r.Held, r.Taken = false, 0; return r }
	p := peakOf([]Rate{heldRate(5000), over(15_000), heldRate(10_000)})
	require.Equal(t, []int{10_000, 15_000}, []int{p.Best.Asked, p.Next.Asked})
	p = peakOf([]Rate{heldRate(5000), over(15_000), over(10_000)})
	require.Equal(t, []int{5000, 10_000}, []int{p.Best.Asked, p.Next.Asked})
	require.Equal(t, p.Best, p.Of())
}

// Between two looks daemons are told apart by what they used, for each row that was taken in.
func TestBetween(t *testing.T) {
	at := time.Unix(1000, 0)
	a := glance{at: at, written: 100, own: 1, machine: 10, daemons: []sight{
		{name: "s", answered: true, rows: 100, cpu: 2}, {name: "w", answered: true, cpu: 3, fragments: []string{"f"}, worked: map[string]float64{"f": 1}}}}
	b := glance{at: at.Add(2 * time.Second), written: 100 + 660, own: 2, machine: 13, daemons: []sight{
		{name: "s", answered: true, rows: 100 + 600, cpu: 3}, {name: "w", answered: true, cpu: 3.5, fragments: []string{"f"}, worked: map[string]float64{"f": 2.5}}}}
	r := between(a, b)
	require.Equal(t, []int{110, 100}, []int{r.Written, r.Taken})
	require.Equal(t, []float64{0.5, 0.25, 0.5, 1.5}, []float64{r.Sources, r.Others, r.Testnet, r.Machine})
	require.Equal(t, 2500.0, r.PerRow)
	require.Equal(t, Daemon{Name: "w", CPUs: 0.25, PerRow: 1e6 * 0.5 / 600, Fragments: []Working{{"f", 0.75}}}, r.Daemons[1])
}

// A daemon that is started again between two looks counts from nothing again, but for the rows of its source; a fragment may start again
// alone; and of a daemon that does not answer nothing is known. No share is below zero or above what can be.
func TestBetweenRestarts(t *testing.T) {
	at := time.Unix(1000, 0)
	was := sight{name: "w", answered: true, pid: 1, rows: 1000, cpu: 30, fragments: []string{"f", "g"}, worked: map[string]float64{"f": 10, "g": 20}}
	rate := func(change func(a, b *sight)) Rate {
		a, b := was, was
		b.rows, b.cpu, b.worked = 1600, 31, map[string]float64{"f": 10.5, "g": 20.1}
		change(&a, &b)
		return between(glance{at: at, daemons: []sight{a}}, glance{at: at.Add(time.Second), daemons: []sight{b}})
	}
	for what, c := range map[string]struct {
		change func(a, b *sight)
		cpus   float64
		f      float64 // share of a fragment
		taken  int
	}{
		"runs on":       {func(_, _ *sight) {}, 1, 0.5, 200},
		"started again": {func(_, b *sight) { b.pid, b.cpu, b.worked = 2, 0.5, map[string]float64{"f": 0.25} }, 0.5, 0.25, 200},
		"again, after a moment": {func(a, b *sight) {
			a.cpu, a.worked, b.pid, b.cpu = 0.1, map[string]float64{"f": 0.1}, 2, 0.5
			b.worked = map[string]float64{"f": 0.25}
		}, 0.5, 0.25, 200},
		"its fragment again":      {func(_, b *sight) { b.worked = map[string]float64{"f": 0.25, "g": 20.1} }, 1, 0.25, 200},
		"is down":                 {func(_, b *sight) { *b = sight{name: "w", worked: map[string]float64{}} }, 0, 0, 0},
		"did not answer at first": {func(a, _ *sight) { *a = sight{name: "w", pid: 1, worked: map[string]float64{}} }, 0, 0, 0},
	} {
		r := rate(c.change)
		require.InDelta(t, c.cpus, r.Daemons[0].CPUs, 1e-9, what)
		require.Equal(t, c.taken, r.Taken, what)
		require.InDelta(t, c.cpus, r.Used(), 1e-9, what)
		if c.cpus == 0 {
			require.Empty(t, r.Daemons[0].Fragments, what)
			continue
		}
		require.InDelta(t, c.f, r.Daemons[0].Fragments[0].Share, 1e-9, what)
	}
}

// Lateness is that of the latest result, also of one that has not come; it grows if even the most punctual ones do.
func TestLateness(t *testing.T) {
	var l lateness
	at := time.Unix(1000, 0)
	l.reset(at)
	came := func(after, late time.Duration) { l.came(at.Add(after-late), at.Add(after)) }
	came(time.Second, 1100*time.Millisecond)
	came(2*time.Second, 2*time.Second) // a pause of the machine
	came(5*time.Second, 1200*time.Millisecond)
	came(5*time.Second, 4*time.Second) // of a source that is behind the others: known already
	longest, growth := l.seen(at.Add(6 * time.Second))
	require.Equal(t, 2200*time.Millisecond, longest)
	require.Equal(t, 100*time.Millisecond, growth)
}

func TestBusyOf(t *testing.T) {
	require.Equal(t, 3.8, busyOf("cpu  100 50 100 9000 800 10 20 100 0 0\ncpu0 1 1 1 1\n"))
	require.Zero(t, busyOf("garbage"))
	require.Zero(t, busyOf("cpu a b c d e f g h i"))
}

// A report becomes a cell: what did not hold is a breach.
func TestCellOf(t *testing.T) {
	r := &scenario.Report{StableRows: 100, TentativeRows: 7, NormalDelay: 0.5, LongestDelay: 2, Stabilise: 1.5, Equal: true}
	k := cut{rate: processRate, pair: bothProcess, length: 5 * time.Second}
	c := cellOf(r, k)
	require.Equal(t, Figures{Runs: 1, Rows: 100, Normal: 500_000, Normal99: 500_000, Delay: 2_500_000, Incremental: 2_000_000, Tentative: 7, Corrected: 1_500_000, Settled: 1_500_000}, c.Figures)
	require.Equal(t, "process / process, 5", c.Name())
	r.Equal, r.Failures = false, []scenario.Failure{{Expected: "a", Seen: "b"}}
	c = cellOf(r, k)
	require.Equal(t, 1, c.Unequal)
	require.Equal(t, []string{"expected a; seen: b"}, c.Breaches)
}
