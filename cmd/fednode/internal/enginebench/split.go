package enginebench

import (
	"runtime"

	"fednode/query/tuple"
	"fednode/sunion"
)

// parts is the number of streams that records are split into for an SUnion.
const parts = 4

// Split returns the same records as streams of their own, row by row in turn, so that merging has to weave them. Batch n
// is of stream n modulo their number, and those of one round span the same time.
func (d *Data) Split() *Data {
	s := &Data{Config: d.Config, Schema: d.Schema}
	rows := d.Config.BatchRows
	for at := 0; at < len(d.Batches); at += parts {
		round := d.Batches[at:min(at+parts, len(d.Batches))]
		for part := range parts {
			out := &tuple.Batch{Schema: d.Schema, Time: make([]tuple.Time, 0, rows), Cols: make([]tuple.Column, len(round[0].Cols))}
			for _, b := range round {
				sel := every(part, len(b.Time))
				for _, i := range sel {
					out.Time = append(out.Time, b.Time[i])
				}
				for c := range b.Cols {
					out.Cols[c].Type = b.Cols[c].Type
					b.Cols[c].Gather(&out.Cols[c], sel)
				}
			}
			if len(out.Time) > 0 { // the last few records may be fewer than the streams
				s.Batches = append(s.Batches, out)
			}
		}
	}
	return s
}

// every returns each parts-th of n rows.
func every(first, n int) []uint32 {
	sel := []uint32{}
	for i := first; i < n; i += parts {
		sel = append(sel, uint32(i))
	}
	return sel
}

// Ordered measures the ordered path of an SUnion: split records of three columns in buckets of 100 ms, merged and let go.
// The plain side copies their columns and times, and puts nothing in order.
func Ordered(split *Data, runs int) (Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	three := split.columns(colSrc, colPort, colBytes)
	var took, plain, allocs []float64
	for range runs {
		var failed error
		copied, _ := measure(func() { copyAll(three) })
		ns, made := measure(func() { failed = order(three) })
		if failed != nil {
			return Result{}, failed
		}
		plain, took, allocs = append(plain, copied), append(took, ns), append(allocs, made)
	}
	n := float64(three.Config.Records)
	r := Result{
		Name: "SUnion ordered", Records: three.Config.Records, NsPerRecord: median(took) / n, PlainNsPerRecord: median(plain) / n,
		AllocsPerRecord: median(allocs) / n, Runs: runs,
	}
	r.Ratio = r.PlainNsPerRecord / r.NsPerRecord
	return r, nil
}

// copyAll copies batch after batch of records of src, dport and bytes into the same memory.
func copyAll(d *Data) {
	rows := d.Config.BatchRows
	times, src := make([]tuple.Time, rows), make([]uint32, rows)
	ports, bytes := make([]int64, rows), make([]int64, rows)
	for _, b := range d.Batches {
		copy(times, b.Time)
		copy(src, b.Cols[0].Code)
		copy(ports, b.Cols[1].Int)
		copy(bytes, b.Cols[2].Int)
	}
}

// columns returns the records with some of their columns.
func (d *Data) columns(which ...int) *Data {
	var fields []tuple.Field
	for _, c := range which {
		fields = append(fields, d.Schema.Field(c))
	}
	out := &Data{Config: d.Config, Schema: tuple.MustSchema(fields...)}
	for _, b := range d.Batches {
		nb := &tuple.Batch{Schema: out.Schema, Time: b.Time}
		for _, c := range which {
			nb.Cols = append(nb.Cols, b.Cols[c])
		}
		out.Batches = append(out.Batches, nb)
	}
	return out
}

// order lets split records through an SUnion and checks that all come out in order.
func order(split *Data) error {
	u, err := sunion.New(sunion.Config{Schema: split.Schema, Inputs: parts, Bucket: 100 * tuple.Millisecond})
	if err != nil {
		return err
	}
	seen := check{last: tuple.MinTime}
	var ids [parts]uint64
	for n, b := range split.Batches {
		part := n % parts
		first := ids[part] + 1
		ids[part] += uint64(len(b.Time))
		if err := u.Insert(part, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: ids[part], Batch: b}); err != nil {
			return err
		}
		u.Boundary(part, b.Time[len(b.Time)-1])
		if err := u.Release(u.Stable(), seen.batch); err != nil {
			return err
		}
	}
	for part := range parts {
		u.Boundary(part, tuple.MaxTime)
	}
	if err := u.Release(tuple.MaxTime, seen.batch); err != nil {
		return err
	}
	return seen.all(split.Config.Records)
}
