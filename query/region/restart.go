package region

import (
	"fmt"
	"slices"
)

// Why says why a region restarts.
type Why uint8

// The reasons.
const (
	// Failed: a vertex of it failed.
	Failed Why = iota
	// Needed: a region that restarts reads an output of it that is no longer available.
	Needed
	// Reads: it reads from a region that restarts.
	Reads
)

// Restarted is one region of a set, with the reason that was found first.
type Restarted struct {
	Region int
	Why    Why
	// From is the region that restarts and because of which this one does; itself if it failed.
	From int
	// Output is what is read or needed; of no meaning if it failed.
	Output Output
}

// Set is what restarts.
type Set struct {
	// Regions are in order of their numbers.
	Regions []Restarted
	// Vertices are those of the regions, in order.
	Vertices []Vertex
}

// Restart returns what to restart when vertices fail. available says whether what an output gave can still be read; it is
// asked at most once for each output, and not for those of vertices that are known to restart. Pipelined outputs are never
// available, and it is not asked for them; nil says the same of all. Vertices that the diagram does not have are an error.
func (m *Map) Restart(failed []Vertex, available func(Output) bool) (Set, error) {
	s := search{m: m, available: available, place: make([]int32, m.Regions()),
		asked: make([]bool, len(m.d.Exchanges)), told: make([]bool, len(m.d.Exchanges))}
	for _, v := range failed {
		if v < 0 || int(v) >= m.d.Vertices {
			return Set{}, fmt.Errorf("region: vertex %d failed: expected 0 to %d", v, m.d.Vertices-1)
		}
		r := int(m.region[v])
		s.add(Restarted{Region: r, Why: Failed, From: r})
	}
	for i := 0; i < len(s.found); i++ {
		s.visit(s.found[i].Region)
	}
	return s.set(), nil
}

// search is one search for what restarts.
type search struct {
	m         *Map
	available func(Output) bool
	found     []Restarted
	place     []int32 // by region, 1 + where it is in found; 0 if it is not
	asked     []bool  // exchanges whose outputs were looked at: for all consumers at once
	told      []bool  // exchanges whose consumers were added: for all producers at once
}

func (s *search) add(r Restarted) {
	if s.place[r.Region] == 0 {
		s.found = append(s.found, r)
		s.place[r.Region] = int32(len(s.found))
	}
}

// visit adds what a region that restarts takes with it.
func (s *search) visit(region int) {
	for _, v := range s.m.members.of(region) {
		for _, x := range s.m.reads.of(int(v)) {
			if !s.asked[x] {
				s.asked[x] = true
				s.upstream(region, int(x))
			}
		}
		for _, x := range s.m.feeds.of(int(v)) {
			if !s.told[x] {
				s.told[x] = true
				s.downstream(region, Output{Exchange: int(x), Producer: Vertex(v)})
			}
		}
	}
}

// upstream adds the producers of an exchange whose outputs a region needs and cannot have.
func (s *search) upstream(region, exchange int) {
	x := &s.m.d.Exchanges[exchange]
	s.found = slices.Grow(s.found, min(len(x.Producers), len(s.place)-len(s.found)))
	for _, p := range x.Producers {
		r := int(s.m.region[p])
		if s.place[r] > 0 {
			continue
		}
		o := Output{Exchange: exchange, Producer: p}
		if x.Kind == Stored && s.available != nil && s.available(o) {
			continue
		}
		s.add(Restarted{Region: r, Why: Needed, From: region, Output: o})
	}
}

// downstream adds the consumers of an exchange that a region feeds.
func (s *search) downstream(region int, o Output) {
	consumers := s.m.d.Exchanges[o.Exchange].Consumers
	s.found = slices.Grow(s.found, min(len(consumers), len(s.place)-len(s.found)))
	for _, c := range consumers {
		s.add(Restarted{Region: int(s.m.region[c]), Why: Reads, From: region, Output: o})
	}
}

// set puts what was found in order.
func (s *search) set() Set {
	out := Set{Regions: make([]Restarted, 0, len(s.found))}
	count := 0
	for r, at := range s.place {
		if at > 0 {
			out.Regions = append(out.Regions, s.found[at-1])
			count += len(s.m.members.of(r))
		}
	}
	out.Vertices = make([]Vertex, 0, count)
	for v, r := range s.m.region {
		if s.place[r] > 0 {
			out.Vertices = append(out.Vertices, Vertex(v))
		}
	}
	return out
}

// Explain says in one line why a region restarts.
func (m *Map) Explain(r Restarted) string {
	of := func(region int) string { return m.d.name(Vertex(m.members.of(region)[0])) }
	switch r.Why {
	case Needed:
		return fmt.Sprintf("%s restarts: %s, which restarts, needs its output again", of(r.Region), of(r.From))
	case Reads:
		return fmt.Sprintf("%s restarts: it reads from %s, which restarts", of(r.Region), of(r.From))
	}
	return of(r.Region) + " restarts: it failed"
}
