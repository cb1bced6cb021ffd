package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"fednode/query/op"
	"fednode/query/tuple"
)

// Input says what random streams of one input look like.
type Input struct {
	Name   string
	Schema string // as Schema reads it
	// Window, if set, makes the rows results of tumbling windows of so many microseconds: the columns window_start and
	// window_end hold the window, and the stime is the last instant of it.
	Window int64
	// Domain is how many different values a column has, 5 if 0. Few values make keys meet.
	Domain int
	// Gap is the mean distance between rows in microseconds, 200 ms if 0.
	Gap int64
	// Table is set where the input is a keyed table.
	Table *op.Table
}

// stream makes n random rows in order of stime.
func (in *Input) stream(s *tuple.Schema, rng *rand.Rand, n int) *tuple.Batch {
	times := make([]tuple.Time, n)
	at := tuple.Time(rng.Int64N(1000))
	gap := in.Gap
	if gap == 0 {
		gap = 200 * tuple.Millisecond
	}
	for i := range times {
		if rng.IntN(3) > 0 { // many rows share their stime
			at += tuple.Time(rng.Int64N(3 * gap))
		}
		times[i] = at
		if in.Window > 0 {
			times[i] = at.FloorTo(in.Window, 0) + tuple.Time(in.Window) - 1
		}
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	b := tuple.NewBatchBuilder(s)
	for _, t := range times {
		for j, f := range s.Fields() {
			in.value(b, rng, j, f, t)
		}
		b.EndRow(t)
	}
	return b.Take()
}

func (in *Input) value(b *tuple.BatchBuilder, rng *rand.Rand, j int, f tuple.Field, t tuple.Time) {
	switch {
	case in.Window > 0 && f.Name == "window_start":
		b.AppendInt(j, int64(t)+1-in.Window)
		return
	case in.Window > 0 && f.Name == "window_end":
		b.AppendInt(j, int64(t)+1)
		return
	case rng.IntN(12) == 0:
		b.AppendNull(j)
		return
	}
	domain := in.Domain
	if domain == 0 {
		domain = 5
	}
	v := rng.IntN(domain)
	switch k := f.Type.Kind; {
	case k == tuple.Bool:
		b.AppendBool(j, v%2 == 0)
	case k == tuple.Float64:
		b.AppendFloat(j, floatValue(v))
	case k == tuple.List:
		listValue(b, j, f.Type, rng, domain)
	case k.IsBinary():
		b.AppendBin(j, binaryValue(k, v))
	default:
		b.AppendInt(j, int64(v))
	}
}

// floatValue covers the values whose equality and order have rules of their own.
func floatValue(v int) float64 {
	switch v % 7 {
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return math.NaN()
	case 3:
		return math.Inf(1)
	}
	return float64(v) / 4
}

func binaryValue(k tuple.Kind, v int) []byte {
	switch k {
	case tuple.IP:
		b := [16]byte{10: 0xff, 11: 0xff, 12: 10, 14: byte(v >> 8), 15: byte(v)}
		return b[:]
	case tuple.CIDR:
		b := [17]byte{10: 0xff, 11: 0xff, 12: 10, 16: 104}
		if v > 0 {
			b[14], b[16] = byte(v), 120
		}
		return b[:]
	}
	if v == 0 {
		return nil
	}
	return []byte(fmt.Sprintf("value %d", v))
}

func listValue(b *tuple.BatchBuilder, j int, t tuple.Type, rng *rand.Rand, domain int) {
	for range rng.IntN(3) {
		if t.Elem.IsBinary() {
			b.AppendElemBin(j, binaryValue(t.Elem, rng.IntN(domain)))
		} else {
			e := b.Col(j).Elem
			e.Int = append(e.Int, int64(rng.IntN(domain)))
		}
	}
	b.EndList(j)
}
