package query

import (
	"errors"
	"fmt"

	"fednode/query/op"
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
	plan   *FragmentPlan
	out    Out
	nodes  []node
	unions []source
	err    error
}

// source is the end of an SUnion: where its rows enter the operators.
type source struct {
	to       []next
	boundary tuple.Time
}

// node is one operator in its place. It is the op.Out of its operator.
type node struct {
	inst *Instance
	plan *OperatorPlan
	op   op.Operator
	to   [][]next // per port
	// bounds are the boundaries of the input ports, boundary that of the results.
	bounds   []tuple.Time
	boundary tuple.Time
}

// next is a target with its node at hand; a nil node means output port of the fragment.
type next struct {
	node *node
	port int
}

var _ op.Out = (*node)(nil)

// NewInstance returns an instance of a fragment that has seen nothing.
func NewInstance(f *FragmentPlan, out Out) *Instance {
	i := newInstance(f, out)
	for n := range i.nodes {
		i.nodes[n].op = f.Operators[n].Plan.New()
	}
	return i
}

// newInstance wires nodes that have no operators yet.
func newInstance(f *FragmentPlan, out Out) *Instance {
	i := &Instance{plan: f, out: out, nodes: make([]node, len(f.Operators)), unions: make([]source, len(f.Unions))}
	for n := range i.nodes {
		p := &f.Operators[n]
		i.nodes[n] = node{inst: i, plan: p, bounds: make([]tuple.Time, len(p.Inputs)), boundary: tuple.MinTime}
		for b := range i.nodes[n].bounds {
			i.nodes[n].bounds[b] = tuple.MinTime
		}
		for _, to := range p.to {
			i.nodes[n].to = append(i.nodes[n].to, i.wire(to))
		}
	}
	for u := range i.unions {
		i.unions[u] = source{to: i.wire(f.Unions[u].to), boundary: tuple.MinTime}
	}
	return i
}

// wire finds the nodes of targets.
func (i *Instance) wire(to []target) []next {
	list := make([]next, len(to))
	for k, t := range to {
		list[k].port = t.port
		if t.operator >= 0 {
			list[k].node = &i.nodes[t.operator]
		}
	}
	return list
}

// Plan returns the plan that the instance was made from.
func (i *Instance) Plan() *FragmentPlan { return i.plan }

// Process pushes a batch that the SUnion hands on through the operators. The batch is borrowed; its rows have no stime
// below the SUnion's last boundary. union is an index of FragmentPlan.Unions.
//
// A broken limit is an *OperatorError around an *op.LimitError; an error of Out is returned as it is.
func (i *Instance) Process(union int, b *tuple.Batch) error {
	if i.err != nil || b.Rows() == 0 {
		return i.err
	}
	for _, n := range i.unions[union].to {
		if err := i.batch(n, b); err != nil {
			return i.fail(err)
		}
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
	for _, n := range s.to {
		if err := i.boundary(n, t); err != nil {
			return i.fail(err)
		}
	}
	return nil
}

// batch hands a batch to one target.
func (i *Instance) batch(n next, b *tuple.Batch) error {
	if n.node == nil {
		if err := i.out.Batch(n.port, b); err != nil {
			return &outError{err}
		}
		return nil
	}
	if err := n.node.op.Process(n.port, b, n.node); err != nil {
		return n.node.blame(err)
	}
	return nil
}

// boundary hands a boundary to one target, and on from there if the operator's own boundary rose.
func (i *Instance) boundary(n next, t tuple.Time) error {
	if n.node == nil {
		if err := i.out.Boundary(n.port, t); err != nil {
			return &outError{err}
		}
		return nil
	}
	nd := n.node
	nd.bounds[n.port] = t
	rose, err := nd.op.Boundary(n.port, t, nd)
	if err != nil {
		return nd.blame(err)
	}
	if rose <= nd.boundary {
		return nil
	}
	nd.boundary = rose
	for _, to := range nd.to {
		for _, n := range to {
			if err := i.boundary(n, rose); err != nil {
				return err
			}
		}
	}
	return nil
}

// Batch takes what the node's operator emits and hands it to everything that reads the port.
func (n *node) Batch(port int, b *tuple.Batch) error {
	for _, to := range n.to[port] {
		if err := n.inst.batch(to, b); err != nil {
			return err
		}
	}
	return nil
}

// OperatorError says which operator stopped the fragment.
type OperatorError struct {
	Query    string
	Fragment string
	Operator string
	Err      error
}

// Error prints query, fragment and operator before the reason.
func (e *OperatorError) Error() string {
	return fmt.Sprintf("query %s, fragment %s, operator %s: %v", e.Query, e.Fragment, e.Operator, e.Err)
}

// Unwrap returns the reason.
func (e *OperatorError) Unwrap() error { return e.Err }

// outError marks an error of Out on its way up through operators, so that none of them is blamed for it.
type outError struct{ error }

// blame names the operator of an error, unless one further down has been named.
func (n *node) blame(err error) error {
	var o *outError
	var e *OperatorError
	if errors.As(err, &o) || errors.As(err, &e) {
		return err
	}
	return &OperatorError{Query: n.inst.plan.Query, Fragment: n.inst.plan.Name, Operator: n.plan.Name, Err: err}
}

// fail keeps the error that ends the instance.
func (i *Instance) fail(err error) error {
	var o *outError
	if errors.As(err, &o) {
		err = o.error
	}
	i.err = err
	return err
}

// Fork returns an instance with the same state and future whose results go to out; afterwards the two are independent.
func (i *Instance) Fork(out Out) *Instance {
	f := newInstance(i.plan, out)
	f.err = i.err
	for n := range i.nodes {
		f.nodes[n].op = i.nodes[n].op.Fork()
		copy(f.nodes[n].bounds, i.nodes[n].bounds)
		f.nodes[n].boundary = i.nodes[n].boundary
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
