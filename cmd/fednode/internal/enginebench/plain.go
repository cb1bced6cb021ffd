package enginebench

import (
	"slices"
	"strings"

	"fednode/query/tuple"
)

// The plain loops: what one would write by hand for each query and nothing else. Codes of the one dictionary index arrays
// directly, and a batch's first and last stime tell whether a window ends in it.

func plainFilter(d *Data, out *Rows) {
	for _, b := range d.Batches {
		src, dst, ports, bytes := b.Cols[colSrc].Code, b.Cols[colDst].Code, b.Cols[colPort].Int, b.Cols[colBytes].Int
		times, outSrc, outDst, bits := out.room(len(ports))
		n := 0
		for i, p := range ports {
			// Written always and kept if it passes: a branch that cannot be predicted costs more.
			times[n], outSrc[n], outDst[n], bits[n] = b.Time[i], src[i], dst[i], bytes[i]*8
			keep := 0
			if bytes[i] > 1000 {
				keep = 1
			}
			if p >= 1024 {
				keep = 0
			}
			n += keep
		}
		out.take(n)
	}
}

// spans calls visit for each stretch of a batch that lies in one window, and closed at the end of every window.
func spans(d *Data, visit func(b *tuple.Batch, lo, hi int), closed func(start tuple.Time)) {
	start := d.Batches[0].Time[0].FloorTo(window, 0)
	for _, b := range d.Batches {
		lo, n := 0, len(b.Time)
		for b.Time[n-1] >= start.Add(window) {
			hi := lo
			for b.Time[hi] < start.Add(window) {
				hi++
			}
			visit(b, lo, hi)
			closed(start)
			lo, start = hi, b.Time[hi].FloorTo(window, 0)
		}
		visit(b, lo, n)
	}
	closed(start)
}

type volume struct{ conns, bytes int64 }

func addVolume(groups []volume, b *tuple.Batch, lo, hi int) {
	src, bytes := b.Cols[colSrc].Code[lo:hi], b.Cols[colBytes].Int[lo:hi]
	for i, s := range src {
		g := &groups[s]
		g.conns++
		g.bytes += bytes[i]
	}
}

// portSets counts the distinct ports of each source: one open-addressing set of (source, port). A bitmap of 8 KiB a source
// takes three times as long here, most of it to fetch and clear 80 MB.
type portSets struct {
	pairs []uint64 // source and port plus one; 0 is free
	used  int
	count []int64 // by source
}

func newPortSets(sources int) *portSets {
	return &portSets{pairs: make([]uint64, 1<<12), count: make([]int64, sources)}
}

func (s *portSets) add(b *tuple.Batch, lo, hi int) {
	src, ports := b.Cols[colSrc].Code[lo:hi], b.Cols[colPort].Int[lo:hi]
	if n := hi - lo; 2*(s.used+n) > len(s.pairs) {
		s.grow(n)
	}
	for i, c := range src {
		pair := uint64(c)<<16 | uint64(ports[i]) + 1
		mask := uint64(len(s.pairs) - 1)
		at := pair * 0x9E3779B97F4A7C15 >> 32 & mask
		for s.pairs[at] != pair {
			if s.pairs[at] == 0 {
				s.pairs[at] = pair
				s.used++
				s.count[c]++
				break
			}
			at = (at + 1) & mask
		}
	}
}

// grow makes room for n more pairs.
func (s *portSets) grow(n int) {
	old := s.pairs
	size := 2 * len(old)
	for size < 2*(s.used+2*n) {
		size *= 2
	}
	s.pairs = make([]uint64, size)
	mask := uint64(size - 1)
	for _, pair := range old {
		if pair == 0 {
			continue
		}
		at := pair * 0x9E3779B97F4A7C15 >> 32 & mask
		for s.pairs[at] != 0 {
			at = (at + 1) & mask
		}
		s.pairs[at] = pair
	}
}

func (s *portSets) clear() {
	clear(s.pairs)
	clear(s.count)
	s.used = 0
}

// inOrder returns the codes for which keep holds in the order of their strings.
func inOrder(dict *tuple.Dict, keep func(code int) bool) []uint32 {
	var codes []uint32
	for c := range dict.Len() {
		if keep(c) {
			codes = append(codes, uint32(c))
		}
	}
	slices.SortFunc(codes, func(a, b uint32) int { return strings.Compare(string(dict.At(a)), string(dict.At(b))) })
	return codes
}

func plainVolume(d *Data, out *Rows) {
	dict := d.Batches[0].Cols[colSrc].Dict
	groups := make([]volume, dict.Len())
	spans(d, func(b *tuple.Batch, lo, hi int) { addVolume(groups, b, lo, hi) }, func(start tuple.Time) {
		for _, c := range inOrder(dict, func(c int) bool { return groups[c].conns > 100 }) {
			out.window(start, dict.At(c), groups[c].conns, groups[c].bytes)
		}
		clear(groups)
	})
}

func plainPorts(d *Data, out *Rows) {
	dict := d.Batches[0].Cols[colSrc].Dict
	ports := newPortSets(dict.Len())
	spans(d, ports.add, func(start tuple.Time) {
		for _, c := range inOrder(dict, func(c int) bool { return ports.count[c] > 10 }) {
			out.window(start, dict.At(c), ports.count[c])
		}
		ports.clear()
	})
}

func plainJoin(d *Data, out *Rows) {
	dict := d.Batches[0].Cols[colSrc].Dict
	volumes, ports := make([]volume, dict.Len()), newPortSets(dict.Len())
	spans(d, func(b *tuple.Batch, lo, hi int) {
		addVolume(volumes, b, lo, hi)
		ports.add(b, lo, hi)
	}, func(start tuple.Time) {
		for _, c := range inOrder(dict, func(c int) bool { return volumes[c].conns > 100 && ports.count[c] > 10 }) {
			out.window(start, dict.At(c), volumes[c].conns, volumes[c].bytes, ports.count[c])
		}
		clear(volumes)
		ports.clear()
	})
}
