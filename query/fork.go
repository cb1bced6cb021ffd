package query

import (
	"errors"
	"fmt"

	"fednode/query/tuple"
)

// Fork is the tentative copy of the part of an instance that is affected by a failure: every operator downstream of an
// affected SUnion, and no other. Its affected SUnions are fed by the caller; what the instance's other SUnions and
// operators hand to affected operators reaches the fork by itself, after the instance's own operator has taken it.
//
// A fork never changes its instance. Its errors, those of its Out included, are its own: it is then spent and takes
// nothing more, and the instance goes on. Forks of one instance may exist side by side, each with its own SUnions; a fork
// belongs to the goroutine of its instance, and it is not changed from within a call of an Out.
type Fork struct {
	inst   *Instance
	side   side
	unions []source // by SUnion; only those of affected ones lead anywhere
	// nodes are the copies, by operator; nil where it is not affected.
	nodes   []*node
	fed     []bool // by SUnion: affected
	outputs []bool // by output: affected
	err     error
}

// errDropped is the error of a fork that has been dropped.
var errDropped = errors.New("the fork has been dropped")

// ForkAffected returns a fork of the operators downstream of the SUnions for which affected, indexed like
// FragmentPlan.Unions, is true. It begins at the instance's present state, and its results go to out under the outputs'
// indices in FragmentPlan.Outputs, for affected outputs only: no row below the boundary that the instance's own Out has
// last been given, and boundaries above it.
//
// It costs one pointer for every page of state; what either side changes later is copied page by page. The fork of an
// instance that is spent is spent.
func (i *Instance) ForkAffected(affected []bool, out Out) *Fork {
	p := i.side.plan
	f := &Fork{
		inst: i, side: newSide(p, out), err: i.err,
		unions: make([]source, len(p.Unions)), nodes: make([]*node, len(p.Operators)),
		fed: make([]bool, len(p.Unions)), outputs: make([]bool, len(p.Outputs)),
	}
	for u := range f.unions {
		f.unions[u] = newSource(nil)
	}
	f.Extend(affected)
	return f
}

// Extend makes more SUnions affected, those for which affected is true; SUnions that are affected already stay so. The
// operators that they add are copied at the instance's present state, the copies that exist stay as they are. A spent
// fork remains as it is.
func (f *Fork) Extend(affected []bool) {
	if f.err != nil {
		return
	}
	for u, yes := range affected {
		if yes && !f.fed[u] {
			f.fed[u] = true
			f.unions[u].boundary = f.inst.unions[u].boundary
			f.reach(f.side.plan.Unions[u].to)
		}
	}
	f.wire()
	f.untee()
	f.tee()
}

// reach copies the operators that targets lead to and that have not been copied yet, and marks the outputs.
func (f *Fork) reach(to []target) {
	for _, t := range to {
		if t.operator < 0 {
			f.outputs[t.port] = true
			continue
		}
		if f.nodes[t.operator] != nil {
			continue
		}
		n := new(node)
		n.init(&f.side, f.inst.nodes[t.operator].plan)
		n.copyState(&f.inst.nodes[t.operator])
		f.nodes[t.operator] = n
		for _, to := range n.plan.to {
			f.reach(to)
		}
	}
}

// wire connects the copies: all that is downstream of a copy is one.
func (f *Fork) wire() {
	at := func(operator int) *node { return f.nodes[operator] }
	for u, fed := range f.fed {
		if fed {
			f.unions[u].ports[0].to = wire(f.side.plan.Unions[u].to, at)
		}
	}
	for _, n := range f.nodes {
		if n == nil {
			continue
		}
		for k, to := range n.plan.to {
			n.ports[k].to = wire(to, at)
		}
	}
}

// Process pushes a batch that an affected SUnion releases through the fork, like Instance.Process.
func (f *Fork) Process(union int, b *tuple.Batch) error {
	if err := f.ready(union); err != nil || b.Rows() == 0 {
		return err
	}
	return f.keep(f.side.batch(&f.unions[union].ports[0], b))
}

// Boundary says that no later row of an affected SUnion has stime < t in the fork, like Instance.Boundary. Its first is
// compared with the instance's own at the time when the SUnion became affected.
func (f *Fork) Boundary(union int, t tuple.Time) error {
	s := &f.unions[union]
	if err := f.ready(union); err != nil || t <= s.boundary {
		return err
	}
	s.boundary = t
	return f.keep(f.side.boundary(s.ports, t))
}

// ready returns why the fork takes nothing from an SUnion. One that is not affected feeds the instance, and the fork
// through it: a caller who feeds it to both is wrong, and the fork remains as it was.
func (f *Fork) ready(union int) error {
	if f.err == nil && !f.fed[union] {
		return fmt.Errorf("SUnion %s of fragment %s is not affected; feed the instance, which hands on to the fork",
			f.side.plan.unionName(union), f.side.plan.Name)
	}
	return f.err
}

// keep remembers the error that ends the fork.
func (f *Fork) keep(err error) error {
	if err != nil {
		f.err = unmarked(err)
	}
	return f.err
}

// Err returns why the fork is spent, nil while it runs.
func (f *Fork) Err() error { return f.err }

// Affected reports whether the caller feeds an SUnion of the fork, by its index in FragmentPlan.Unions.
func (f *Fork) Affected(union int) bool { return f.fed[union] }

// AffectedOutput reports whether the fork produces an output, by its index in FragmentPlan.Outputs.
func (f *Fork) AffectedOutput(output int) bool { return f.outputs[output] }

// UnionBoundary returns the last boundary of an affected SUnion in the fork; tuple.MinTime if it has had none.
func (f *Fork) UnionBoundary(union int) tuple.Time { return f.unions[union].boundary }

// StateBytes estimates the memory that the fork's state holds, pages shared with the instance included.
func (f *Fork) StateBytes() int64 {
	var sum int64
	for _, n := range f.nodes {
		if n != nil {
			sum += n.op.StateBytes()
		}
	}
	return sum
}

// Drop ends the fork: it takes nothing more, and the instance is as if it had never been. Dropping it again does nothing.
func (f *Fork) Drop() {
	f.untee()
	clear(f.nodes)
	clear(f.unions)
	if f.err == nil {
		f.err = errDropped
	}
}
