package sim

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// epoch is the stream time at which every run begins.
const epoch = tuple.Time(1_767_225_600_000_000)

// generator is the world outside of one source: rows that come to be at times that depend on the seed alone, whether
// anybody reads them or not.
type generator struct {
	seed   uint64
	source uint64
	spec   *topology.Spec
	keys   [][]byte
	// next is the number of the next row that has not come to be; quiet are the stretches of world time without rows.
	quiet []stretch
}

// stretch is a time from the world's beginning, in microseconds.
type stretch struct{ from, to int64 }

func newGenerator(seed uint64, source int, spec *topology.Spec) *generator {
	g := &generator{seed: seed, source: uint64(source), spec: spec}
	for k := range spec.Keys {
		g.keys = append(g.keys, fmt.Appendf(nil, "k%d", k))
	}
	return g
}

// draw is a hash of a row's number and what it is for: splitmix64.
func (g *generator) draw(row, what uint64) uint64 {
	x := g.seed + g.source*0x9e3779b97f4a7c15 + row*0xbf58476d1ce4e5b9 + what*0x94d049bb133111eb
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// arrival is when a row comes to be, in world time. It rises with the row's number.
func (g *generator) arrival(row uint64) int64 {
	gap := tuple.Second / g.spec.Rate
	return int64(row)*gap + int64(g.draw(row, 1)%uint64(gap))
}

// exists reports whether a row comes to be at all.
func (g *generator) exists(row uint64) bool {
	at := g.arrival(row)
	for _, q := range g.quiet {
		if at >= q.from && at < q.to {
			return false
		}
	}
	return true
}

// read appends the rows from next on that have come to be by a world time, at most so many, and returns the number of the
// first that it has not read and when the last one came to be.
func (g *generator) read(b *tuple.BatchBuilder, next uint64, by int64, most int) (uint64, int64) {
	last := int64(-1)
	for n := 0; n < most; next++ {
		at := g.arrival(next)
		if at > by {
			break
		}
		if !g.exists(next) {
			continue
		}
		n++
		last = at
		stime := epoch.Add(at - g.spec.Lag)
		if g.spec.Disorder > 0 {
			stime = stime.Add(-int64(g.draw(next, 2) % uint64(g.spec.Disorder)))
		}
		b.AppendInt(0, int64(stime))
		b.AppendBin(1, g.keys[g.draw(next, 3)%uint64(len(g.keys))])
		b.AppendInt(2, int64(g.source<<32|next))
		b.EndRow(stime)
	}
	return next, last
}

// waiting reports whether rows from next on have come to be by a world time.
func (g *generator) waiting(next uint64, by int64) bool {
	for ; g.arrival(next) <= by; next++ {
		if g.exists(next) {
			return true
		}
	}
	return false
}
