package fault

import (
	"slices"

	"fednode/query/tuple"
)

// Minimise returns a plan that still fails and is as small as it can make it with at most tries calls of fails: with
// fewer faults, then shorter ones, at rounder times. fails is called with plans that may have no fault at all.
func Minimise(p Plan, tries int, fails func(Plan) bool) Plan {
	m := &minimiser{plan: slices.Clone(p), tries: tries, fails: fails}
	m.drop()
	for m.again = true; m.again; {
		m.again = false
		m.shorten()
		m.round()
		m.drop()
	}
	return m.plan
}

type minimiser struct {
	plan  Plan
	tries int
	fails func(Plan) bool
	again bool // something has become smaller
}

// try takes a candidate over if it still fails.
func (m *minimiser) try(p Plan) bool {
	if m.tries <= 0 {
		return false
	}
	m.tries--
	p = slices.Clone(p)
	p.Sort()
	if !m.fails(p) {
		return false
	}
	m.plan, m.again = p, true
	return true
}

// drop leaves out halves, quarters and so on down to single faults.
func (m *minimiser) drop() {
	for size := len(m.plan); size > 0; size /= 2 {
		for lo := 0; lo < len(m.plan); {
			hi := min(lo+size, len(m.plan))
			if !m.try(slices.Delete(slices.Clone(m.plan), lo, hi)) {
				lo = hi
			}
		}
	}
}

// shorten halves lengths, down to 100 ms.
func (m *minimiser) shorten() {
	for i := range m.plan {
		for m.plan[i].For > 100*tuple.Millisecond {
			p := slices.Clone(m.plan)
			p[i].For /= 2
			if p[i].For > 60*tuple.Second {
				p[i].For = 60 * tuple.Second
			}
			if !m.try(p) {
				break
			}
		}
	}
}

// round puts times and lengths on full seconds or tenths of one.
func (m *minimiser) round() {
	for i := range m.plan {
		for _, unit := range []int64{tuple.Second, 100 * tuple.Millisecond} {
			p := slices.Clone(m.plan)
			p[i].At -= p[i].At % unit
			if p[i].For != Forever {
				p[i].For -= p[i].For % unit
			}
			if p[i] == m.plan[i] || p[i].Kind.shape().lasts && p[i].For == 0 {
				continue
			}
			if m.try(p) {
				break
			}
		}
	}
}
