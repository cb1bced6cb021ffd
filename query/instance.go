package query

import (
	"fednode/query/tuple"
)

// Out takes what a fragment emits, by the index of the output in FragmentPlan.Outputs. A batch is borrowed: it is valid
// until Batch returns. Within an output, rows come in the stream's order, never below the boundary last given, and
// boundaries rise.
type Out interface {
	Batch(output int, b *tuple.Batch) error
	Boundary(output int, t tuple.Time) error
}

// Instance is one running copy of a fragment's operators. It pushes each batch through them on the caller's goroutine and
// belongs to it. After an error it is spent: every further call returns that error.
type Instance struct {
	side   side
	nodes  []node
	unions []source
	err    error
}

// NewInstance returns an instance of a fragment that has seen nothing.
func NewInstance(f *FragmentPlan, out Out) *Instance {
	i := newInstance(f, out)
	for n := range i.nodes {
		i.nodes[n].own(f.Operators[n].Plan.New())
	}
	return i
}

// newInstance wires nodes that have no operators yet.
func newInstance(f *FragmentPlan, out Out) *Instance {
	i := &Instance{side: newSide(f, out), nodes: make([]node, len(f.Operators)), unions: make([]source, len(f.Unions))}
	at := func(operator int) *node { return &i.nodes[operator] }
	for n := range i.nodes {
		p := &f.Operators[n]
		i.nodes[n].init(&i.side, p)
		for k, to := range p.to {
			i.nodes[n].ports[k].to = wire(to, at)
		}
	}
	for u := range i.unions {
		i.unions[u] = newSource(wire(f.Unions[u].to, at))
	}
	return i
}

// Plan returns the plan that the instance was made from.
func (i *Instance) Plan() *FragmentPlan { return i.side.plan }

// Process pushes a batch that the SUnion hands on through the operators. The batch is borrowed; its rows have no stime
// below the SUnion's last boundary. union is an index of FragmentPlan.Unions.
//
// A broken limit is an *OperatorError around an *op.LimitError; an error of Out is returned as it is.
func (i *Instance) Process(union int, b *tuple.Batch) error {
	if i.err != nil || b.Rows() == 0 {
		return i.err
	}
	if err := i.side.batch(&i.unions[union].ports[0], b); err != nil {
		return i.fail(err)
	}
	return nil
}

// Boundary says that no later row of the SUnion has stime < t; tuple.MaxTime ends it. A boundary that is not above the
// last one says nothing new.
func (i *Instance) Boundary(union int, t tuple.Time) error {
	s := &i.unions[union]
	if i.err != nil || t <= s.boundary {
		return i.err
	}
	s.boundary = t
	if err := i.side.boundary(s.ports, t); err != nil {
		return i.fail(err)
	}
	return nil
}

// fail keeps the error that ends the instance.
func (i *Instance) fail(err error) error {
	i.err = unmarked(err)
	return i.err
}

// Fork returns an instance with the same state and future whose results go to out; afterwards the two are independent.
func (i *Instance) Fork(out Out) *Instance {
	f := newInstance(i.side.plan, out)
	f.err = i.err
	for n := range i.nodes {
		f.nodes[n].copyState(&i.nodes[n])
	}
	for u := range i.unions {
		f.unions[u].boundary = i.unions[u].boundary
	}
	return f
}

// StateBytes estimates the memory that all operators' state holds.
func (i *Instance) StateBytes() int64 {
	var sum int64
	for n := range i.nodes {
		sum += i.nodes[n].op.StateBytes()
	}
	return sum
}
