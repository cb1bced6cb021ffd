package query

import (
	"fednode/query/expr"
	"fednode/query/op"
	"fednode/query/tuple"
)

// side is what nodes belong to, an instance or a fork of it: they hand rows only to nodes of their own side, and its out
// takes what leaves the fragment.
type side struct {
	plan *FragmentPlan
	out  Out
	room *expr.Room
}

// mostText is how many bytes the texts may have that the expressions of one side make of a batch. What makes much of
// little, and that again and again from one operator to the next, stops the fragment there: it may be somebody else's, who
// is not to have all memory of the node.
const mostText = 512 << 20

func newSide(p *FragmentPlan, out Out) side {
	return side{plan: p, out: out, room: expr.NewRoom(mostText)}
}

// crowded returns an error once the texts of a batch have found no room.
func (s *side) crowded() error {
	if s.room.Over() {
		return &op.LimitError{What: "bytes of the texts that expressions make of one batch", Limit: s.room.Limit()}
	}
	return nil
}

// source is the end of an SUnion: where its rows enter the operators.
type source struct {
	ports    []port // one
	boundary tuple.Time
}

// newSource returns the end of an SUnion that has seen nothing and leads to some targets.
func newSource(to []next) source {
	return source{ports: []port{{to: to}}, boundary: tuple.MinTime}
}

// port is a place that rows leave from.
type port struct {
	to []next
	// tees are what forks take from here, none without a fork.
	tees []tee
}

// next is a target with its node at hand; a nil node means output port of the fragment.
type next struct {
	node *node
	port int
}

// node is one operator in its place. It is the op.Out of its operator.
type node struct {
	side  *side
	plan  *OperatorPlan
	op    op.Operator
	ports []port
	// bounds are the boundaries of the input ports, boundary that of the results.
	bounds   []tuple.Time
	boundary tuple.Time
	// encoded is how long the state was in the last snapshot: the next is as long, about.
	encoded int
}

var _ op.Out = (*node)(nil)

// init puts a node that has seen nothing and has no operator yet in its place; its ports lead nowhere.
func (n *node) init(s *side, p *OperatorPlan) {
	*n = node{side: s, plan: p, ports: make([]port, len(p.to)), bounds: make([]tuple.Time, len(p.Inputs)), boundary: tuple.MinTime}
	for b := range n.bounds {
		n.bounds[b] = tuple.MinTime
	}
}

// own gives the node its operator.
func (n *node) own(o op.Operator) {
	n.op = o
	op.Share(o, n.side.room)
}

// copyState makes n go on from where the node of the same operator on another side stands.
func (n *node) copyState(from *node) {
	n.own(from.op.Fork())
	copy(n.bounds, from.bounds)
	n.boundary = from.boundary
}

// wire finds the nodes of targets.
func wire(to []target, node func(operator int) *node) []next {
	list := make([]next, len(to))
	for k, t := range to {
		list[k].port = t.port
		if t.operator >= 0 {
			list[k].node = node(t.operator)
		}
	}
	return list
}

// Batch takes what the node's operator emits and hands it to everything that reads the port.
func (n *node) Batch(port int, b *tuple.Batch) error {
	return n.side.batch(&n.ports[port], b)
}

// batch hands a batch to everything behind a port, to forks last: their errors are their own.
func (s *side) batch(p *port, b *tuple.Batch) error {
	if err := s.crowded(); err != nil {
		return err
	}
	for _, n := range p.to {
		if n.node == nil {
			if err := s.out.Batch(n.port, b); err != nil {
				return &outError{err}
			}
			continue
		}
		if err := n.node.process(n.port, b); err != nil {
			return n.node.blame(err)
		}
	}
	for _, t := range p.tees {
		t.batch(b)
	}
	return nil
}

func (n *node) process(port int, b *tuple.Batch) error {
	if err := n.op.Process(port, b, n); err != nil {
		return err
	}
	return n.side.crowded()
}

// boundary hands a boundary to everything behind some ports, and on from each operator whose own boundary rose.
func (s *side) boundary(ports []port, t tuple.Time) error {
	for p := range ports {
		for _, n := range ports[p].to {
			if n.node == nil {
				if err := s.out.Boundary(n.port, t); err != nil {
					return &outError{err}
				}
				continue
			}
			rose, err := n.node.raise(n.port, t)
			if err == nil && rose {
				err = s.boundary(n.node.ports, n.node.boundary)
			}
			if err != nil {
				return err
			}
		}
		for _, e := range ports[p].tees {
			e.boundary(t)
		}
	}
	return nil
}

// raise gives the operator the boundary of an input port and reports whether its own rose.
func (n *node) raise(port int, t tuple.Time) (rose bool, err error) {
	n.bounds[port] = t
	own, err := n.op.Boundary(port, t, n)
	if err == nil {
		err = n.side.crowded()
	}
	if err != nil {
		return false, n.blame(err)
	}
	if own <= n.boundary {
		return false, nil
	}
	n.boundary = own
	return true, nil
}
