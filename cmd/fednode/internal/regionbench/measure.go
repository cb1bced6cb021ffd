package regionbench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"

	"fednode/query/region"
)

// Case is one thing to find.
type Case struct {
	Name string
	Kind region.Kind
	// Lost is true if the outputs of all producers are gone when one fails.
	Lost bool
}

// Cases are what differs in which vertices are looked at.
func Cases() []Case {
	return []Case{
		{"stored, outputs kept", region.Stored, false},
		{"stored, outputs lost", region.Stored, true},
		{"pipelined", region.Pipelined, true},
	}
}

// Sizes are how many producers there are, and as many consumers.
func Sizes() []int { return []int{1000, 2000, 5000, 10_000} }

// Result is one case at one size: medians of interleaved runs, in nanoseconds of CPU time.
type Result struct {
	Case            Case
	Size            int
	Ns, PlainNs     float64
	AllocsPerVertex float64
	Runs            int
}

// Run measures one case at one size. It fails when the two sides do not find the same.
func Run(ctx context.Context, c Case, size, runs int) (Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d := allToAll(size, c.Kind)
	available := func(region.Output) bool { return !c.Lost }
	ours := func() (region.Set, error) {
		m, err := region.New(d)
		if err != nil {
			return region.Set{}, err
		}
		return m.Restart([]region.Vertex{0}, available)
	}
	plain := func() []region.Vertex { return (&naive{d: d}).restart(0, available) }
	set, err := ours()
	if err != nil {
		return Result{}, err
	}
	if want := plain(); !slices.Equal(set.Vertices, want) {
		return Result{}, fmt.Errorf("regionbench: %s, %d+%d: %d vertices restart, edge by edge %d", c.Name, size, size, len(set.Vertices), len(want))
	}
	var took, other, allocs []float64
	for range runs {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		ns, _ := measure(1, func() { plain() })
		other = append(other, ns)
		// Several times, for one takes less than the clock of the processor can tell well.
		ns, n := measure(repeat, func() { set, err = ours() })
		if err != nil {
			return Result{}, err
		}
		took, allocs = append(took, ns), append(allocs, n)
	}
	return Result{Case: c, Size: size, Ns: median(took), PlainNs: median(other), AllocsPerVertex: median(allocs) / float64(2*size), Runs: runs}, nil
}

// repeat is how often the quick side is run in one measurement.
const repeat = 20

// allToAll is n producers and n consumers, each of whom reads all of them.
func allToAll(n int, k region.Kind) region.Diagram {
	all := make([]region.Vertex, 2*n)
	for i := range all {
		all[i] = region.Vertex(i)
	}
	return region.Diagram{Vertices: 2 * n, Exchanges: []region.Exchange{{Producers: all[:n], Consumers: all[n:], Kind: k}}}
}

// measure returns the nanoseconds of CPU time that a call of f takes, the collection of its garbage included, and its
// allocations.
func measure(times int, f func()) (ns, allocs float64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	for range times {
		f()
	}
	runtime.GC()
	ns = float64(cpuTime() - start)
	runtime.ReadMemStats(&after)
	return ns / float64(times), float64(after.Mallocs-before.Mallocs) / float64(times)
}

func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
