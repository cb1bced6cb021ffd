package enginebench

import (
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"syscall"

	"fednode/query/tuple"
)

// Result is one line of the benchmark: medians of interleaved runs, in nanoseconds of CPU time per record. Ratio is plain
// over ours: 1 is as fast, less is slower.
type Result struct {
	Name             string  `json:"name"`
	Records          int     `json:"records"`
	NsPerRecord      float64 `json:"ns_per_record"`
	PlainNsPerRecord float64 `json:"plain_ns_per_record"`
	Ratio            float64 `json:"ratio"`
	AllocsPerRecord  float64 `json:"allocs_per_record"`
	Runs             int     `json:"runs"`
}

// Run measures a query runs times on each side. It sets GOMAXPROCS to 1 while it runs, and fails when the two sides do not
// give the same rows in the same order.
func Run(q Query, d *Data, build Build, runs int) (Result, error) {
	return race(q.Name, d,
		func(out *Rows) error { q.plain(d, out); return nil },
		func(out *Rows) error { return runEngine(q, d, build, out) }, runs)
}

// Side is one way to run a query, over records in the form that it takes.
type Side struct {
	Build Build
	Data  *Data
}

// Against measures a query with one engine against another in the place of the plain loop.
func Against(q Query, base, ours Side, runs int) (Result, error) {
	return race(q.Name, base.Data,
		func(out *Rows) error { return runEngine(q, base.Data, base.Build, out) },
		func(out *Rows) error { return runEngine(q, ours.Data, ours.Build, out) }, runs)
}

// side runs one side and gives its results to out.
type side func(out *Rows) error

// race compares two sides once and then measures them in turn.
func race(name string, d *Data, base, ours side, runs int) (Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := compare(name, d, base, ours); err != nil {
		return Result{}, err
	}
	took, plain, allocs := make([]float64, runs), make([]float64, runs), make([]float64, runs)
	for i := range runs {
		var a, b Rows
		var first, second error
		plain[i], _ = measure(func() { first = base(&a) })
		took[i], allocs[i] = measure(func() { second = ours(&b) })
		if err := errors.Join(first, second); err != nil {
			return Result{}, err
		}
		if a.n != b.n {
			return Result{}, fmt.Errorf("enginebench: %s: %d rows, the other side gives %d", name, b.n, a.n)
		}
	}
	n := float64(d.Config.Records)
	r := Result{
		Name: name, Records: d.Config.Records, NsPerRecord: median(took) / n, PlainNsPerRecord: median(plain) / n,
		AllocsPerRecord: median(allocs) / n, Runs: runs,
	}
	r.Ratio = r.PlainNsPerRecord / r.NsPerRecord
	return r, nil
}

// compare runs both sides once and compares all rows.
func compare(name string, d *Data, base, ours side) error {
	var a, b maphash.Hash
	b.SetSeed(a.Seed())
	first, second := Rows{data: d, digest: &a}, Rows{data: d, digest: &b}
	if err := errors.Join(base(&first), ours(&second)); err != nil {
		return err
	}
	if first.n == 0 {
		return fmt.Errorf("enginebench: %s has no result over these records", name)
	}
	if first.n != second.n || a.Sum64() != b.Sum64() {
		return fmt.Errorf("enginebench: %s: the engine's %d rows differ from the %d of the other side", name, second.n, first.n)
	}
	return nil
}

func runEngine(q Query, d *Data, build Build, out *Rows) error {
	e, err := build(q, d.Schema, out.batch)
	if err != nil {
		return fmt.Errorf("enginebench: %s: %w", q.Name, err)
	}
	for _, b := range d.Batches {
		if err := e.Batch(b); err != nil {
			return fmt.Errorf("enginebench: %s: %w", q.Name, err)
		}
		if err := e.Boundary(b.Time[len(b.Time)-1]); err != nil {
			return fmt.Errorf("enginebench: %s: %w", q.Name, err)
		}
	}
	return e.Boundary(tuple.MaxTime)
}

// measure returns the nanoseconds of CPU time of the process that f takes, the collection of its garbage included, and
// the number of allocations.
func measure(f func()) (ns, allocs float64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	f()
	runtime.GC()
	ns = float64(cpuTime() - start)
	runtime.ReadMemStats(&after)
	return ns, float64(after.Mallocs - before.Mallocs)
}

// cpuTime returns the CPU time of the process in nanoseconds.
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
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
