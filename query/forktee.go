package query

import (
	"slices"

	"fednode/query/tuple"
)

// tee is an edge from a port of an instance that is not affected to an operator of a fork that is.
type tee struct {
	fork *Fork
	to   []port // one, with one target
}

// batch hands what the instance's operator has taken to the fork's.
func (t tee) batch(b *tuple.Batch) {
	if t.fork.err == nil {
		_ = t.fork.keep(t.fork.side.batch(&t.to[0], b)) // the fork keeps its error; the instance goes on
	}
}

// boundary hands a boundary to the fork's operator.
func (t tee) boundary(at tuple.Time) {
	if t.fork.err == nil {
		_ = t.fork.keep(t.fork.side.boundary(t.to, at))
	}
}

// tee adds the edges from what is not affected to the copies.
func (f *Fork) tee() {
	for u, fed := range f.fed {
		if !fed {
			f.teePort(&f.inst.unions[u].ports[0], f.side.plan.Unions[u].to)
		}
	}
	for n, copied := range f.nodes {
		if copied != nil {
			continue
		}
		stable := &f.inst.nodes[n]
		for k := range stable.ports {
			f.teePort(&stable.ports[k], stable.plan.to[k])
		}
	}
}

func (f *Fork) teePort(p *port, to []target) {
	for _, t := range to {
		if t.operator >= 0 && f.nodes[t.operator] != nil {
			p.tees = append(p.tees, tee{fork: f, to: []port{{to: []next{{node: f.nodes[t.operator], port: t.port}}}}})
		}
	}
}

// untee removes every edge to the fork.
func (f *Fork) untee() {
	drop := func(p *port) {
		p.tees = slices.DeleteFunc(p.tees, func(t tee) bool { return t.fork == f })
	}
	for u := range f.inst.unions {
		drop(&f.inst.unions[u].ports[0])
	}
	for n := range f.inst.nodes {
		for k := range f.inst.nodes[n].ports {
			drop(&f.inst.nodes[n].ports[k])
		}
	}
}
